package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write the generated documents")

const (
	referenceFile = "../../docs/cli-reference.md"
	manualFolder  = "../../docs/man"
)

// Claims: C9
func TestTheReferenceAndTheManualAreCurrent(t *testing.T) {
	t.Parallel()
	root := (&app{}).root()
	want := map[string][]byte{referenceFile: reference(root)}
	for name, page := range manual(root) {
		want[filepath.Join(manualFolder, name)] = page
	}
	if *update {
		if err := os.RemoveAll(manualFolder); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(manualFolder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range want {
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s is not what the commands say; run make docs: %v\n%s", name, err, cmp.Diff(string(text), string(got)))
		}
	}
	pages, err := filepath.Glob(manualFolder + "/*")
	if err != nil || len(pages) != len(want)-1 {
		t.Errorf("%d pages for %d commands; run make docs: %v", len(pages), len(want)-1, err)
	}
}

// reference is every command with its flags and examples, as a document.
func reference(root *cobra.Command) []byte {
	var doc bytes.Buffer
	fmt.Fprint(&doc, "# Command reference\n\nWritten by `make docs` from what `--help` says. For how the commands go together see [cli.md](cli.md).\n")
	fmt.Fprint(&doc, "\n## All commands\n\n")
	referenceFlags(&doc, root.PersistentFlags())
	everyCommand(root, func(cmd *cobra.Command) {
		if !shown(cmd) || cmd == root {
			return
		}
		fmt.Fprintf(&doc, "\n## %s\n\n", cmd.CommandPath())
		long := longOf(cmd)
		if strings.Contains(long, "  ") || strings.Contains(long, ": c3po ") {
			long = "```\n" + strings.TrimRight(long, "\n") + "\n```"
		}
		fmt.Fprintf(&doc, "%s\n", long)
		if cmd.Runnable() {
			fmt.Fprintf(&doc, "\n    %s\n", cmd.UseLine())
		}
		if len(shownFlags(cmd.LocalFlags())) > 0 {
			fmt.Fprintln(&doc)
			referenceFlags(&doc, cmd.LocalFlags())
		}
		if cmd.Example != "" {
			fmt.Fprintf(&doc, "\nFor example:\n\n%s\n", indented(cmd.Example))
		}
	})
	return doc.Bytes()
}

func referenceFlags(doc *bytes.Buffer, flags *pflag.FlagSet) {
	fmt.Fprint(doc, "| flag | |\n|---|---|\n")
	for _, f := range shownFlags(flags) {
		fmt.Fprintf(doc, "| `%s` | %s |\n", flagForm(f), strings.ReplaceAll(flagUsage(f), "|", "\\|"))
	}
}

func indented(example string) string {
	var all strings.Builder
	for line := range strings.Lines(example) {
		all.WriteString("    " + strings.TrimSpace(line) + "\n")
	}
	return strings.TrimRight(all.String(), "\n")
}

// The table in the document is the one the program prints.
func TestTheDocumentHasEveryExitCode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range exitMeanings() {
		row := fmt.Sprintf("| %d | %s | %s |", m.Code, m.Meaning, m.Again)
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/cli.md has no row %s", row)
		}
	}
	if rows := strings.Count(string(text), "\n| 1"); rows < 2 {
		t.Error("the table was not found")
	}
	topic := exitTopic().Long
	for _, m := range exitMeanings() {
		if !strings.Contains(topic, m.Meaning) {
			t.Errorf("help exit-codes does not say %q", m.Meaning)
		}
	}
}

// Claims: A15
func TestThereAreFewSettings(t *testing.T) {
	t.Parallel()
	cmd, _, err := (&app{}).root().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		n++
		if f.Annotations[variableOf] == nil || f.Annotations[keyOf] == nil {
			t.Errorf("--%s has no variable or no key in c3po.yaml", f.Name)
		}
	})
	if n == 0 || n >= 20 {
		t.Errorf("a coordinator has %d settings beside its limits", n)
	}
	t.Logf("a coordinator has %d settings beside its limits", n)
}
