package operate

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/server"
)

// leaveAddress leaves it to the server where it listens unless somebody has said so:
// only then may it take another port.
func (s *coordinator) leaveAddress(a *console.Console) {
	if a.Origins["listen"].From == console.FromDefault {
		s.listen = ""
	}
}

// keptListen is the file with the address that the last c3po up --listen was given, so that
// the hosts which have joined there find the coordinator again.
func keptListen(state string) string { return filepath.Join(state, "listen") }

// listenAsBefore takes the kept address, unless one was given now.
func (s *coordinator) listenAsBefore(state string) {
	if s.listen != "" {
		return
	}
	if kept, err := os.ReadFile(keptListen(state)); err == nil && checkListen(string(kept)) == nil {
		s.listen, s.keptFrom = string(kept), keptListen(state)
	}
}

// keepListen keeps the address of a coordinator that has started, if it was typed.
func (s *coordinator) keepListen(a *console.Console, state string) error {
	if a.Origins["listen"].From != console.FromFlag {
		return nil
	}
	return paths.WriteFile(keptListen(state), []byte(s.listen))
}

// explainKept adds to a refusal to listen that the address is an earlier one.
func (s *coordinator) explainKept(err error) error {
	if s.keptFrom == "" || err == nil {
		return err
	}
	e := console.Explain(err)
	return c3po.Because(err, e.Code, e.Message).Suggest("%s", strings.TrimSpace(fmt.Sprintf("%s is the address of an earlier c3po up --listen; another one replaces it: c3po up --listen %s. %s", s.listen, server.DefaultListen, e.Suggestion)))
}

// checkListen refuses what is no address, before anything is started.
func checkListen(listen string) error {
	const hint = "Give host and port, for example 127.0.0.1:8420."
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		return console.BadUsage(fmt.Sprintf("%q is not an address to listen on", listen), hint)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return console.BadUsage(fmt.Sprintf("%q is not a port", port), hint)
	}
	return nil
}

// nameHolder adds to a refusal which program has the port.
func nameHolder(listen string, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	return c3po.Because(err, c3po.InvalidRequest, fmt.Sprintf("cannot listen on %s: the port is taken%s", listen, holder(listen))).
		Suggest("End that program, or choose another port: --listen %s. A port of 0 takes any free one.", nextPort(listen))
}

// holder is the program that has a port, as a part of a sentence; empty if nobody
// can tell, such as for another user's.
func holder(listen string) string {
	pid := engine.PortHolder(portOf(listen))
	if pid == 0 {
		return ""
	}
	name := fmt.Sprintf("process %d", pid)
	if names := engine.Names(pid); len(names) > 0 {
		name = fmt.Sprintf("%s, process %d", filepath.Base(names[0]), pid)
	}
	return " by " + name
}

func portOf(listen string) int {
	_, text, _ := net.SplitHostPort(listen)
	port, _ := strconv.Atoi(text)
	return port
}

func nextPort(listen string) string {
	host, _, _ := net.SplitHostPort(listen)
	return net.JoinHostPort(host, strconv.Itoa(portOf(listen)+1))
}

// warnOfOtherPort says that a coordinator which could choose does not listen where
// people expect it.
func warnOfOtherPort(a *console.Console, s coordinator, at string) {
	if u, err := url.Parse(at); s.listen != "" || err != nil || u.Port() == strconv.Itoa(portOf(server.DefaultListen)) {
		return
	}
	a.Warn(fmt.Sprintf("%s is taken%s, so the coordinator listens on another port", server.DefaultListen, holder(server.DefaultListen)),
		"Commands on this host find it. To choose a port: c3po down && c3po up --listen 127.0.0.1:PORT")
}

// refuseElsewhere keeps an address that was asked for from being ignored because a
// coordinator runs at another.
func refuseElsewhere(a *console.Console, s coordinator, note paths.Coordinator) error {
	if s.listen == "" || listensOn(note, s.listen) {
		return nil
	}
	return c3po.Errorf(c3po.InvalidRequest, "c3po is already running at %s, not on %s (from %s)", note.URL, s.listen, cmp.Or(a.Origins["listen"].Where, "--listen")).
		Suggest("Move it with: c3po down && c3po up --listen %s", s.listen)
}

// listensOn says that a running coordinator was started for this address, or has it.
func listensOn(note paths.Coordinator, listen string) bool {
	at, err := url.Parse(note.URL)
	if err != nil || listen == note.Listen || listen == at.Host {
		return true
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port != "0" && port != at.Port() {
		return false
	}
	if host == "" && port == "0" {
		host = "127.0.0.1" // as the server takes it
	}
	theirs, _, _ := net.SplitHostPort(note.Listen)
	return host == cmp.Or(theirs, at.Hostname())
}

// warnOfUnused names the settings that were typed and do nothing because a coordinator
// runs already.
func warnOfUnused(a *console.Console, cmd *cobra.Command) {
	var unused []string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if a.Origins[f.Name].From == console.FromFlag && f.Name != "listen" {
			unused = append(unused, "--"+f.Name)
		}
	})
	if len(unused) > 0 {
		slices.Sort(unused)
		a.Warn("it keeps the settings it was started with: "+strings.Join(unused, ", ")+" changed nothing", "Run c3po down first, then the same command again.")
	}
}
