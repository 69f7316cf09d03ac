package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/c3po-dev/c3po/internal/cli/console"
)

func TestEveryCommandIsInTheReferenceAndTheManual(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	var out bytes.Buffer
	if code := Main(t.Context(), console.Process{Args: []string{"man", "--dir", dir}, Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}); code != console.ExitOK {
		t.Fatalf("c3po man --dir ended with %d: %s", code, out.String())
	}
	document := string(Reference())
	commands := 0
	everyCommand(root((&console.Console{})), func(cmd *cobra.Command) {
		if !isForPeople(cmd) {
			return
		}
		commands++
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		if err != nil || !bytes.HasPrefix(page, []byte(".TH ")) {
			t.Errorf("%s has no manual page: %v", cmd.CommandPath(), err)
		}
		_, section, found := strings.Cut(document, "\n## "+cmd.CommandPath()+"\n")
		if !cmd.HasParent() {
			_, section, found = strings.Cut(document, "\n## All commands\n")
		}
		section, _, _ = strings.Cut(section, "\n## ")
		if !found {
			t.Errorf("the reference has no %s", cmd.CommandPath())
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if !strings.Contains(section, "--"+f.Name) {
				t.Errorf("the reference of %s has no --%s", cmd.CommandPath(), f.Name)
			}
			if !bytes.Contains(page, []byte(roff("--"+f.Name))) {
				t.Errorf("the manual page of %s has no --%s", cmd.CommandPath(), f.Name)
			}
		})
	})
	pages, err := os.ReadDir(dir)
	if err != nil || len(pages) != commands || commands < 100 {
		t.Errorf("%d pages for %d commands: %v", len(pages), commands, err)
	}
}

// The table in the document is the one the program prints.
func TestTheDocumentHasEveryExitCode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reference/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range console.ExitMeanings() {
		row := fmt.Sprintf("| %d | %s | %s |", m.Code, m.Meaning, m.Again)
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/reference/cli.md has no row %s", row)
		}
	}
	if rows := strings.Count(string(text), "\n| 1"); rows < 2 {
		t.Error("the table was not found")
	}
	topic := console.ExitTopic().Long
	for _, m := range console.ExitMeanings() {
		for word := range strings.FieldsSeq(m.Meaning + " " + m.Again) {
			if !strings.Contains(topic, word) {
				t.Errorf("help exit-codes does not say %q", word)
			}
		}
	}
}

func TestHelpFitsAScreenOfEightyColumns(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &console.Console{Process: console.Process{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}}
	root := root(a)
	root.SetOut(&out)
	show := func(args ...string) {
		out.Reset()
		root.SetArgs(args)
		if err := root.Execute(); err != nil {
			t.Errorf("%v: %v", args, err)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimRight(line, "\n")
			example := strings.HasPrefix(line, "  c3po ") || strings.HasPrefix(line, "  echo ") // is copied whole
			if n := utf8.RuneCountInString(line); n > console.HelpColumns && !example {
				t.Errorf("%v has a line of %d: %s", args, n, line)
			}
		}
	}
	show("help", "all")
	everyCommand(root, func(cmd *cobra.Command) {
		if isForPeople(cmd) {
			show(append([]string{"help"}, strings.Fields(cmd.CommandPath())[1:]...)...)
		}
	})
}

func TestThereAreFewSettings(t *testing.T) {
	t.Parallel()
	cmd, _, err := root((&console.Console{})).Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Annotations[console.KeyOf] != nil && strings.HasPrefix(f.Annotations[console.KeyOf][0], "limits.") {
			return
		}
		if f.Hidden { // c3po gives it to itself
			return
		}
		n++
		if f.Annotations[console.VariableOf] == nil || f.Annotations[console.KeyOf] == nil {
			t.Errorf("--%s has no variable or no key in c3po.yaml", f.Name)
		}
	})
	if n == 0 || n >= 20 {
		t.Errorf("a coordinator has %d settings beside its limits", n)
	}
	t.Logf("a coordinator has %d settings beside its limits", n)
}

func TestEveryCommandHasAnExampleThatIsUnderstood(t *testing.T) {
	t.Parallel()
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s has no help", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			_, command, found := strings.Cut(line, "c3po ")
			if !found {
				t.Errorf("%s has the example %q", cmd.CommandPath(), line)
				continue
			}
			// A tree of its own: flags that were set once stay set.
			example, rest, err := root((&console.Console{})).Find(words(command))
			if err == nil {
				err = example.ParseFlags(rest)
			}
			if err == nil {
				err = example.ValidateArgs(example.Flags().Args())
			}
			if err != nil {
				t.Errorf("the example %q of %s: %v", line, cmd.CommandPath(), err)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root((&console.Console{})))
}

// words splits a line as a shell does, as far as our examples need it.
func words(line string) []string {
	var all []string
	for i, part := range strings.Split(strings.TrimSpace(line), `"`) {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}
