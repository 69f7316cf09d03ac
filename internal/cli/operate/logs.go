package operate

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

// maxLogRead is how far back the log is read for its last lines.
const maxLogRead = 1 << 20

func Logs(a *console.Console) *cobra.Command {
	var follow bool
	var lines int
	cmd := console.WithoutSettings(&cobra.Command{
		Use:   "logs",
		Short: "Show the log of the coordinator that runs here",
		Long: `Show the last lines of the log of the coordinator that c3po up started here, in its
own form with --json. One that a service manager runs writes to that one's log.`,
		Example: `  c3po logs
  c3po logs -n 200
  c3po logs --follow`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 0 {
				return console.BadUsage(fmt.Sprintf("--lines is %d", lines), "It must be 0 or more.")
			}
			name, err := a.Folders.StateFile("coordinator.log")
			if err != nil {
				return err
			}
			file, err := os.Open(name) // #nosec G304 -- our own log
			if agents, person, where := a.Elsewhere(); errors.Is(err, fs.ErrNotExist) && where == nil && agents+person != "" {
				return c3po.Errorf(c3po.InvalidRequest, "the coordinator is at %s, and so is its log", cmp.Or(agents, person)).Suggest("Run c3po logs there.")
			}
			if errors.Is(err, fs.ErrNotExist) {
				return c3po.Errorf(c3po.InvalidRequest, "no coordinator was started here with c3po up; there is no log at %s", name).
					Suggest("Start one with: c3po up")
			}
			if err != nil {
				return err
			}
			defer file.Close()
			return printLog(cmd.Context(), a, file, lines, follow)
		},
	})
	cmd.Flags().IntVarP(&lines, "lines", "n", 50, "how many of the last lines to show")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until interrupted")
	return cmd
}

func printLog(ctx context.Context, a *console.Console, file *os.File, most int, follow bool) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if _, err := file.Seek(max(0, info.Size()-maxLogRead), io.SeekStart); err != nil {
		return err
	}
	reader := bufio.NewReader(file)
	if info.Size() > maxLogRead {
		_, _ = reader.ReadString('\n') // it begins in the middle of a line
	}
	var kept []string
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			break
		}
		if kept = append(kept, line); len(kept) > most {
			kept = kept[1:]
		}
	}
	for _, line := range kept {
		printLogLine(a, line)
	}
	for begun := ""; follow; {
		line, err := reader.ReadString('\n')
		if err == nil {
			printLogLine(a, begun+line)
			begun = ""
			continue
		}
		begun += line
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery * 10):
		}
		if info, err := file.Stat(); err == nil {
			if at, err := file.Seek(0, io.SeekCurrent); err == nil && at > info.Size() {
				_, _ = file.Seek(0, io.SeekStart) // it was cut
			}
		}
	}
	return nil
}

// printLogLine writes a line as a person reads it: the time, how bad it is, what
// happened, and the rest.
func printLogLine(a *console.Console, line string) {
	line = strings.TrimRight(line, "\n")
	var fields map[string]any
	if a.JSON || json.Unmarshal([]byte(line), &fields) != nil {
		fmt.Fprintln(a.Stdout, console.Inline(line))
		return
	}
	at, _ := time.Parse(time.RFC3339Nano, fmt.Sprint(fields["time"]))
	level, said := strings.ToLower(fmt.Sprint(fields["level"])), fmt.Sprint(fields["msg"])
	delete(fields, "time")
	delete(fields, "level")
	delete(fields, "msg")
	var rest []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		value, ok := fields[key].(string)
		if lasted, isNumber := fields[key].(float64); isNumber && (key == "duration" || key == "after") {
			value = time.Duration(lasted).Round(10 * time.Microsecond).String() // in nanoseconds, as slog writes it
		} else if !ok {
			data, _ := json.Marshal(fields[key]) // it came from JSON
			value = string(data)
		}
		rest = append(rest, key+"="+value)
	}
	in := a.Ink()
	word := fmt.Sprintf("%-5s", level)
	switch level {
	case "error":
		word = in.Bad(word)
	case "warn":
		word = in.Warn(word)
	}
	fmt.Fprintf(a.Stdout, "%s %s %s %s\n", at.Local().Format(time.DateTime), word, console.Inline(said), in.Faint(console.Inline(strings.Join(rest, " "))))
}
