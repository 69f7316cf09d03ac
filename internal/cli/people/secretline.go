package people

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/c3po-dev/c3po/internal/cli/console"
)

// secretLine is the first line of stdin. On a terminal it asks for it and doesn't
// show what is typed; Ctrl-C ends it there and leaves the terminal as it was.
func secretLine(ctx context.Context, a *console.Console, ask string) (string, error) {
	file, ok := a.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) { // #nosec G115 -- a descriptor is small
		line, err := bufio.NewReader(io.LimitReader(a.Stdin, console.MaxInputBytes)).ReadString('\n')
		if err == io.EOF {
			err = nil
		}
		return line, err
	}
	fd := int(file.Fd()) // #nosec G115 -- a descriptor is small
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	fmt.Fprint(a.Stderr, ask)
	defer fmt.Fprintln(a.Stderr)
	defer func() { _ = term.Restore(fd, before) }() // there is nobody to tell
	type typed struct {
		line []byte
		err  error
	}
	// A read of a terminal cannot be interrupted: what waits in it ends with the command.
	done := make(chan typed, 1)
	go func() {
		line, err := term.ReadPassword(fd)
		done <- typed{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-done:
		if got.err == io.EOF {
			got.err = nil
		}
		return string(got.line), got.err
	}
}
