package c3po_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	longSentence  = 30 // words; a sentence with more is long
	longInHundred = 2  // long sentences of a hundred, which a page may not reach
)

// Sentences are short on every page that a user reads. A decision in docs/adr and a
// line of the changelog stay as they were written.
func TestSentencesAreShort(t *testing.T) {
	t.Parallel()
	pages := 0
	for name, text := range ourDocuments(t) {
		if name != "README.md" && !strings.HasPrefix(name, "docs/") || path.Dir(name) == "docs/adr" {
			continue
		}
		pages++
		for _, problem := range judgeSentences(text) {
			t.Errorf("%s: %s", name, problem)
		}
	}
	if pages < 40 {
		t.Fatalf("only %d pages were read", pages)
	}
}

// judgeSentences gives the long sentences of a page that has too many.
func judgeSentences(page string) []string {
	all := sentencesOf(page)
	long := slices.DeleteFunc(slices.Clone(all), func(sentence string) bool { return len(strings.Fields(sentence)) <= longSentence })
	if len(long)*100 < longInHundred*len(all) || len(long) == 0 {
		return nil
	}
	problems := []string{fmt.Sprintf("%d of %d sentences have more than %d words", len(long), len(all), longSentence)}
	for _, sentence := range long {
		problems = append(problems, fmt.Sprintf("%d words: %s", len(strings.Fields(sentence)), sentence))
	}
	return problems
}

var (
	htmlTag      = regexp.MustCompile(`</?[a-z][^>\n]*>`)
	indentedCode = regexp.MustCompile(`(?m)^ {4}.*$`)
	newPart      = regexp.MustCompile(`^\s*(?:[-*] |\d+\. |#|\||>|$)`)
	partMark     = regexp.MustCompile(`^\s*(?:[-*] |\d+\. |#+ |> ?)`)
	sentenceEnd  = regexp.MustCompile(`[.!?][)"*]*\s+`)
)

// sentencesOf splits prose, list items and cells of tables. Code is one word, and a
// link is its text. A few words in a cell are no sentence.
func sentencesOf(page string) []string {
	page = htmlTag.ReplaceAllString(htmlComment.ReplaceAllString(indentedCode.ReplaceAllString(fencedBlock.ReplaceAllString(page, ""), ""), ""), "")
	page = headingLink.ReplaceAllString(inlineCode.ReplaceAllString(page, "code"), "$1")
	var parts []string
	for line := range strings.Lines(page) {
		if newPart.MatchString(line) || len(parts) == 0 {
			parts = append(parts, "")
		}
		line = partMark.ReplaceAllString(line, "")
		if strings.HasPrefix(line, "|") {
			parts = append(parts, strings.Split(line, "|")...)
			parts = append(parts, "")
			continue
		}
		parts[len(parts)-1] += line
	}
	var sentences []string
	for _, part := range parts {
		for _, sentence := range sentenceEnd.Split(strings.Join(strings.Fields(part), " ")+" ", -1) {
			if len(strings.Fields(sentence)) > 3 {
				sentences = append(sentences, sentence)
			}
		}
	}
	return sentences
}
