package redistest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

const doTimeout = 5 * time.Second

// An ErrorReply is an error the server answered, such as "WRONGTYPE …".
type ErrorReply string

func (e ErrorReply) Error() string { return string(e) }

// Do sends one command over a connection of its own and returns the reply: a
// string, an int64, nil, or a []any of these (an error inside is an ErrorReply).
// addr is "host:port", its redis:// URL, or the path of a unix socket.
func Do(addr string, args ...string) (any, error) {
	network, addr := "tcp", strings.TrimPrefix(addr, "redis://")
	if strings.HasPrefix(addr, "/") {
		network = "unix"
	}
	conn, err := net.DialTimeout(network, addr, doTimeout)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(doTimeout)); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, encode(args)); err != nil {
		return nil, err
	}
	reply, err := decode(bufio.NewReader(conn))
	if err != nil {
		return nil, err
	}
	if refused, ok := reply.(ErrorReply); ok {
		return nil, refused
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
	if line == "" {
		return nil, fmt.Errorf("an empty line where a reply should start")
	}
	switch kind, rest := line[0], line[1:]; kind {
	case '+':
		return rest, nil
	case '-':
		return ErrorReply(rest), nil
	case ':':
		return strconv.ParseInt(rest, 10, 64)
	case '$':
		return decodeBulk(r, rest)
	case '*':
		return decodeArray(r, rest)
	default:
		return nil, fmt.Errorf("not a reply: %q", line)
	}
}

func decodeBulk(r *bufio.Reader, length string) (any, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return nil, err
	}
	text := make([]byte, n+len("\r\n"))
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, err
	}
	return string(text[:n]), nil
}

func decodeArray(r *bufio.Reader, length string) (any, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return nil, err
	}
	items := make([]any, n)
	for i := range items {
		if items[i], err = decode(r); err != nil {
			return nil, err
		}
	}
	return items, nil
}
