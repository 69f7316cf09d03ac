package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

func man(a *console.Console) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man [COMMAND...]",
		Short: "Print a manual page, or write all of them",
		Long: `Print the manual page of a command, or of c3po itself. With --dir the pages of all
commands are written to a folder, for example ~/.local/share/man/man1.`,
		Example: `  c3po man send
  c3po man --dir man1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				return writeManual(a, cmd.Root(), dir)
			}
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return console.UnknownCommand(cmd.Root(), args)
			}
			page := manPage(about)
			if a.AtTerminal() {
				return showManual(a, cmd, about, page)
			}
			return a.Show(map[string]string{"name": pageName(about), "page": string(page)}, func(w io.Writer) { _, _ = w.Write(page) })
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder to write the pages of all commands to")
	return console.WithoutSettings(cmd)
}

// showManual shows a page as man does; where there is no man, the help of the command
// says the same.
func showManual(a *console.Console, cmd, about *cobra.Command, page []byte) error {
	man, err := exec.LookPath("man")
	if err != nil {
		return about.Help()
	}
	dir, err := os.MkdirTemp("", "c3po-man-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, pageName(about)+".1") // with a slash in it, it is taken for a file
	if err := os.WriteFile(file, page, 0o600); err != nil {
		return err
	}
	reader := exec.CommandContext(cmd.Context(), man, file) // #nosec G204 -- a page of ours
	reader.Stdin, reader.Stdout, reader.Stderr = a.Stdin, a.Stdout, a.Stderr
	if reader.Run() != nil {
		return about.Help()
	}
	return nil
}

func writeManual(a *console.Console, root *cobra.Command, dir string) error {
	err := os.MkdirAll(dir, 0o755) // #nosec G301 -- for every user's man to read
	if err != nil {
		return c3po.Errorf(c3po.InvalidRequest, "cannot make the folder %s: %w", dir, err).Suggest("Choose a folder that you can write to.")
	}
	var written []string
	for name, page := range manual(root) {
		path := filepath.Join(dir, name)
		err := os.WriteFile(path, page, 0o644) // #nosec G306 -- as the folder
		if err != nil {
			return c3po.Errorf(c3po.InvalidRequest, "cannot write %s: %w", path, err).Suggest("Choose a folder that you can write to.")
		}
		written = append(written, path)
	}
	return a.Show(map[string]any{"dir": dir, "pages": len(written)}, func(w io.Writer) {
		fmt.Fprintf(w, "%d pages are in %s\n", len(written), console.Inline(dir))
	})
}

// manual is the page of every command that people use, by the name of its file.
func manual(root *cobra.Command) map[string][]byte {
	pages := map[string][]byte{}
	everyCommand(root, func(cmd *cobra.Command) {
		if isForPeople(cmd) {
			pages[pageName(cmd)+".1"] = manPage(cmd)
		}
	})
	return pages
}

// isForPeople says whether a command is for people.
func isForPeople(cmd *cobra.Command) bool {
	for c := cmd; c != nil; c = c.Parent() {
		if c.Hidden {
			return false
		}
	}
	return cmd.Name() != "help"
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage writes a page in the macros of man(7). It says nothing of when it was
// written, so that the same commands give the same page.
func manPage(cmd *cobra.Command) []byte {
	var page bytes.Buffer
	name := pageName(cmd)
	fmt.Fprintf(&page, ".TH %s 1 \"\" c3po \"c3po manual\"\n", roffArgument(strings.ToUpper(name)))
	fmt.Fprintf(&page, ".SH NAME\n%s \\- %s\n", roff(name), roff(lowerFirst(cmd.Short)))
	if cmd.Runnable() {
		fmt.Fprintf(&page, ".SH SYNOPSIS\n.B %s\n", roffArgument(cmd.UseLine()))
	}
	fmt.Fprint(&page, ".SH DESCRIPTION\n")
	roffText(&page, longOf(cmd))
	if children := childrenOf(cmd); len(children) > 0 {
		fmt.Fprint(&page, ".SH COMMANDS\n")
		for _, child := range children {
			fmt.Fprintf(&page, ".TP\n.B %s\n%s\n", roffArgument(child.Name()), roff(child.Short))
		}
	}
	roffFlags(&page, "OPTIONS", cmd.NonInheritedFlags())
	roffFlags(&page, "OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&page, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	fmt.Fprint(&page, ".SH EXIT STATUS\n")
	for _, m := range console.ExitMeanings() {
		fmt.Fprintf(&page, ".TP\n.B %d\n%s\n", m.Code, roff(m.Meaning))
	}
	if parent := cmd.Parent(); parent != nil {
		fmt.Fprintf(&page, ".SH SEE ALSO\n.BR %s (1)\n", roffArgument(pageName(parent)))
	}
	return page.Bytes()
}

func longOf(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return long(cmd)
	}
	return cmd.Short + "."
}

// childrenOf are the commands of a command that people use.
func childrenOf(cmd *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, child := range cmd.Commands() {
		if isForPeople(child) {
			all = append(all, child)
		}
	}
	return all
}

func roffFlags(page *bytes.Buffer, title string, flags *pflag.FlagSet) {
	shown := shownFlags(flags)
	if len(shown) == 0 {
		return
	}
	fmt.Fprintf(page, ".SH %s\n", roffArgument(title))
	for _, f := range shown {
		fmt.Fprintf(page, ".TP\n.B %s\n%s\n", roffArgument(flagForm(f)), roff(flagUsage(f)))
	}
}

// shownFlags are those a command has of its own: that every command has --help
// needs no line.
func shownFlags(flags *pflag.FlagSet) []*pflag.Flag {
	var all []*pflag.Flag
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			all = append(all, f)
		}
	})
	return all
}

// flagForm is how a flag is written: -v, --verbose, --limit int.
func flagForm(f *pflag.Flag) string {
	form := "--" + f.Name
	if f.Shorthand != "" {
		form = "-" + f.Shorthand + ", " + form
	}
	if kind, _ := pflag.UnquoteUsage(f); kind != "" {
		form += " " + kind
	}
	return form
}

// flagUsage is what a flag does, and its default if it has one.
func flagUsage(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "false", "0", "[]":
		return usage
	default:
		return usage + " (default " + f.DefValue + ")"
	}
}

// roffText writes paragraphs; one whose lines are aligned, or begin with a
// space, is left as it is.
func roffText(page *bytes.Buffer, text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			fmt.Fprint(page, ".PP\n")
		}
		if strings.Contains(paragraph, "  ") || strings.Contains(paragraph, ": c3po ") {
			fmt.Fprintf(page, ".nf\n%s\n.fi\n", roff(paragraph))
			continue
		}
		fmt.Fprintf(page, "%s\n", roff(strings.TrimSpace(paragraph)))
	}
}

// roff keeps a text from being taken for macros.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(strings.TrimRight(text, "\n"))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

func roffArgument(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `""`) + `"` }

func lowerFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToLower(text[:1]) + text[1:]
}
