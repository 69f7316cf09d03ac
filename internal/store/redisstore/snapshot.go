package redisstore

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
)

// Snapshot writes what Redis holds into files of dir, one for each of its masters, in the
// format in which Redis itself keeps it (RDB). Each shows one moment, and taking it
// blocks nothing. All of a space is with one master, so every space is whole.
func Snapshot(ctx context.Context, address, dir string) ([]string, error) {
	options, err := clientOptions(address)
	if err != nil {
		return nil, err
	}
	client, err := rueidis.NewClient(options)
	if err != nil {
		return nil, notReached(err)
	}
	defer client.Close()
	masters, err := mastersOf(ctx, client)
	if err != nil {
		return nil, notReached(err)
	}
	var files []string
	for i, master := range masters {
		name := filepath.Join(dir, strconv.Itoa(i+1)+".rdb")
		if err := snapshotTo(ctx, options, master, name); err != nil {
			return nil, c3po.Errorf(c3po.RedisUnavailable, "Redis does not give a copy of itself: %w", err).
				Suggest("The user of the Redis URL needs the right to run SYNC and REPLCONF.")
		}
		files = append(files, name)
	}
	return files, nil
}

// mastersOf returns the addresses of those that may be written to.
func mastersOf(ctx context.Context, client rueidis.Client) ([]string, error) {
	var masters []string
	for address, node := range client.Nodes() {
		role, err := node.Do(ctx, node.B().Role().Build()).ToArray()
		if err != nil {
			return nil, err
		}
		if word, err := role[0].ToString(); err != nil {
			return nil, err
		} else if word == "master" {
			masters = append(masters, address)
		}
	}
	slices.Sort(masters)
	return masters, nil
}

func snapshotTo(ctx context.Context, options rueidis.ClientOption, master, name string) (err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	conn, err := dial(ctx, options, master)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	return receive(conn, options.Username, options.Password, file)
}

func dial(ctx context.Context, options rueidis.ClientOption, address string) (net.Conn, error) {
	switch {
	case options.DialCtxFn != nil: // a unix socket
		return options.DialCtxFn(ctx, address, &options.Dialer, options.TLSConfig)
	case options.TLSConfig != nil:
		dialer := tls.Dialer{NetDialer: &options.Dialer, Config: options.TLSConfig}
		return dialer.DialContext(ctx, "tcp", address)
	default:
		return options.Dialer.DialContext(ctx, "tcp", address)
	}
}

// receive asks for a copy as a replica does, and for nothing after it. The
// client library knows no replicas.
func receive(conn io.ReadWriter, user, password string, to io.Writer) error {
	from := bufio.NewReader(conn)
	// A replica that cannot take a copy of unknown length gets one at once, with its
	// length.
	commands := [][]string{{"REPLCONF", "rdb-only", "1"}}
	if password != "" {
		login := []string{"AUTH", password}
		if user != "" {
			login = []string{"AUTH", user, password}
		}
		commands = slices.Insert(commands, 0, login)
	}
	for _, command := range commands {
		if err := tell(conn, command...); err != nil {
			return err
		}
		if line, err := from.ReadString('\n'); err != nil {
			return err
		} else if !strings.HasPrefix(line, "+") {
			return fmt.Errorf("to %s it says: %s", command[0], strings.TrimSpace(strings.TrimPrefix(line, "-")))
		}
	}
	if err := tell(conn, "SYNC"); err != nil {
		return err
	}
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			return err
		}
		line = strings.TrimSpace(line)
		length, announced := strings.CutPrefix(line, "$")
		switch {
		case line == "": // it lives, and is not ready yet
		case announced:
			n, err := strconv.ParseInt(length, 10, 64)
			if err != nil {
				return fmt.Errorf("it announces %q", line)
			}
			_, err = io.CopyN(to, from, n)
			return err
		default:
			return fmt.Errorf("it says: %s", strings.TrimPrefix(line, "-"))
		}
	}
}

func tell(to io.Writer, words ...string) error {
	var out strings.Builder
	fmt.Fprintf(&out, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&out, "$%d\r\n%s\r\n", len(word), word)
	}
	_, err := io.WriteString(to, out.String())
	return err
}
