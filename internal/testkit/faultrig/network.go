package faultrig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// A Network is hosts with addresses of their own, each on a cable to this one
// that can be pulled. They are network namespaces: it needs root, iproute2 and iptables.
type Network struct {
	t      testing.TB
	prefix string // the first three numbers of every address
	tag    string
	hosts  int
}

// networks counts those of this process, so that no two have one name.
var networks atomic.Int64

// NewNetwork makes a network without hosts. Where that is not allowed the test
// is skipped, in CI it fails.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	_, noHosts := exec.LookPath("ip")
	_, noFaults := exec.LookPath("iptables")
	if errors.Join(noHosts, noFaults) != nil || os.Geteuid() != 0 {
		const missing = "network namespaces whose packets are lost need root, iproute2 and iptables"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	nth := networks.Add(1)
	n := &Network{t: t, tag: fmt.Sprintf("c3p%d-%d-", os.Getpid(), nth)}
	// The range is kept free for measurements of networks. Whose address it is to
	// stand for all hosts of a network is settled by who gets it.
	const tries = 200
	var err error
	for try := range tries {
		n.prefix = fmt.Sprintf("198.18.%d.", (os.Getpid()+int(nth)+try)%250)
		if err = command("ip", "address", "add", n.Address()+"/32", "dev", "lo"); err == nil {
			t.Cleanup(func() { n.run("ip", "address", "del", n.Address()+"/32", "dev", "lo") })
			return n
		}
	}
	t.Fatal(err)
	return nil
}

// Address is where all hosts reach this one, also while cables are pulled.
func (n *Network) Address() string { return n.prefix + "254" }

func (n *Network) run(name string, args ...string) {
	n.t.Helper()
	if err := command(name, args...); err != nil {
		n.t.Error(err)
	}
}

// A Host is a namespace on a Network. Its methods are for one goroutine.
type Host struct {
	network *Network
	name    string
	near    string // this end of its cable
	address string
}

// Host adds a host.
func (n *Network) Host() *Host {
	n.t.Helper()
	at := 4 * n.hosts
	h := &Host{
		network: n, name: fmt.Sprintf("%s%d", n.tag, n.hosts),
		near: fmt.Sprintf("%s%d", n.prefix, at+1), address: fmt.Sprintf("%s%d", n.prefix, at+2),
	}
	n.hosts++
	for _, line := range []string{
		"netns add " + h.name,
		"link add " + h.name + " type veth peer name wire netns " + h.name,
		"address add " + h.near + "/30 dev " + h.name,
		"link set " + h.name + " up",
		"-n " + h.name + " link set lo up",
		"-n " + h.name + " address add " + h.address + "/30 dev wire",
	} {
		if err := command("ip", strings.Fields(line)...); err != nil {
			n.t.Fatal(err)
		}
		if strings.HasPrefix(line, "netns add") {
			n.t.Cleanup(func() { n.run("ip", "netns", "del", h.name) })
		}
	}
	h.Plug()
	return h
}

// Address is the host's own.
func (h *Host) Address() string { return h.address }

// Pull pulls the cable: nothing arrives, and nobody is told.
func (h *Host) Pull() {
	h.network.t.Helper()
	h.network.run("ip", "-n", h.name, "link", "set", "wire", "down")
}

// Deafen lets nothing arrive any more, while what the host says does.
func (h *Host) Deafen() { h.lose("INPUT", 1) }

// Mute lets nothing leave any more, while the host hears everything.
func (h *Host) Mute() { h.lose("OUTPUT", 1) }

// Lossy loses this part of all packets, in either direction.
func (h *Host) Lossy(part float64) {
	h.lose("INPUT", part)
	h.lose("OUTPUT", part)
}

func (h *Host) lose(chain string, part float64) {
	h.network.t.Helper()
	h.iptables("-A", chain, "-m", "statistic", "--mode", "random", "--probability", strconv.FormatFloat(part, 'f', -1, 64), "-j", "DROP")
}

func (h *Host) iptables(args ...string) {
	h.network.t.Helper()
	h.network.run("ip", append([]string{"netns", "exec", h.name, "iptables", "-w"}, args...)...)
}

// Plug ends whatever the cable suffers from.
func (h *Host) Plug() {
	h.network.t.Helper()
	h.iptables("-F")
	h.network.run("ip", "-n", h.name, "link", "set", "wire", "up")
	h.network.run("ip", "-n", h.name, "route", "replace", "default", "via", h.near)
}

// command is a program on the host; on this one if there is none.
func (h *Host) command(name string, args ...string) *exec.Cmd {
	if h == nil {
		return exec.Command(name, args...)
	}
	// It becomes the program, so that signals reach that.
	return exec.Command("ip", append([]string{"netns", "exec", h.name, name}, args...)...)
}
