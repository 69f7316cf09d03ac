package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/c3po-dev/c3po/internal/cli/console"
)

// Reference is every command with its flags and examples, as a document.
func Reference() []byte { return reference(root((&console.Console{}))) }

func reference(root *cobra.Command) []byte {
	var doc bytes.Buffer
	fmt.Fprint(&doc, "# Command reference\n\nWritten by `make docs` from what `--help` says. For how the commands go together see [cli.md](cli.md).\n")
	fmt.Fprint(&doc, "\n## All commands\n\n")
	referenceFlags(&doc, root.LocalFlags())
	everyCommand(root, func(cmd *cobra.Command) {
		if !isForPeople(cmd) || cmd == root {
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
			fmt.Fprintf(&doc, "\nFor example:\n\n%s\n", indent(cmd.Example))
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

func indent(example string) string {
	var all strings.Builder
	for line := range strings.Lines(example) {
		all.WriteString("    " + strings.TrimSpace(line) + "\n")
	}
	return strings.TrimRight(all.String(), "\n")
}
