package console

import (
	"bufio"
	"context"
	"io"
	"time"
)

// Lines are the lines that come in, until the end. Nothing else may read from in then.
func Lines(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(in); scan.Scan(); {
			lines <- scan.Text()
		}
	}()
	return lines
}

// NextLine waits for a line; io.EOF is the end of them.
func NextLine(ctx context.Context, lines <-chan string) (string, error) {
	select {
	case line, open := <-lines:
		if !open {
			return "", io.EOF
		}
		return line, nil
	case <-ctx.Done():
		return "", context.Canceled
	}
}

// LinesWithin are the lines that come, each so soon after the one before.
func LinesWithin(lines <-chan string, gap time.Duration) (all []string) {
	for {
		select {
		case line, open := <-lines:
			if !open {
				return all
			}
			all = append(all, line)
		case <-time.After(gap):
			return all
		}
	}
}
