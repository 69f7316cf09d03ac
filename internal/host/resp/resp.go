// Package resp asks a Redis server a question over a connection of its own: for a
// server that is still starting, which the store's client does not know, and for
// tests.
package resp

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// An Error is what a server refused with, such as "WRONGTYPE …".
type Error string

func (e Error) Error() string { return string(e) }

// Ask sends commands one after the other, up to the first that is refused, and gives
// the reply to the last: a string, an int64, nil, or a []any of these and of Errors.
func Ask(network, addr string, patience time.Duration, commands ...[]string) (reply any, err error) {
	conn, err := net.DialTimeout(network, addr, patience)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(conn)
	for _, command := range commands {
		if _, err := io.WriteString(conn, encode(command)); err != nil {
			return nil, err
		}
		if reply, err = decode(reader); err != nil {
			return nil, err
		}
		if refused, ok := reply.(Error); ok {
			return nil, refused
		}
	}
	return reply, nil
}

func encode(args []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b.String()
}

func decode(r *bufio.Reader) (any, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	kind, rest := line[:min(1, len(line))], line[min(1, len(line)):]
	switch kind {
	case "+":
		return rest, nil
	case "-":
		return Error(rest), nil
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if err != nil || !strings.Contains(":$*", kind) {
		return nil, fmt.Errorf("an answer that is not of Redis: %q", line)
	}
	switch {
	case kind == ":":
		return n, nil
	case n < 0:
		return nil, nil
	case kind == "$":
		// It grows as it comes: what is promised is not believed.
		text, err := io.ReadAll(io.LimitReader(r, n))
		if err == nil {
			_, err = r.Discard(len("\r\n"))
		}
		return string(text), err
	}
	items := []any{}
	for range n {
		one, err := decode(r)
		if err != nil {
			return nil, err
		}
		items = append(items, one)
	}
	return items, nil
}
