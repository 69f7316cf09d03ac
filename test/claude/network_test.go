package claude_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A network is the namespace of one host: it has a wire to the model it thinks
// with, perhaps one to another host, and nothing else, not even our loopback.
type network struct {
	t     *testing.T
	pid   int    // of a process in it, whose end is the end of the network
	model string // our address on the wire to the model
}

// newNetwork makes a network. No other that exists has the same number.
func newNetwork(t *testing.T, n int) *network {
	t.Helper()
	holder := exec.Command("unshare", "--net", "cat")
	stdin, err := holder.StdinPipe() // it ends with us, however we do
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = holder.Wait()
	})
	net := &network{t: t, pid: holder.Process.Pid, model: fmt.Sprintf("10.9.%d.1", n)}
	ours := namespaceOf(os.Getpid())
	eventually(t, 10*time.Second, "the network is there", func() bool {
		theirs := namespaceOf(net.pid)
		return theirs != "" && theirs != ours
	})
	wire := fmt.Sprintf("model%d", n)
	run(t, "ip", "link", "add", wire, "type", "veth", "peer", "name", "model", "netns", fmt.Sprint(net.pid))
	t.Cleanup(func() { _ = exec.Command("ip", "link", "delete", wire).Run() }) // its network may have taken it along
	run(t, "ip", "address", "add", net.model+"/24", "dev", wire)
	run(t, "ip", "link", "set", wire, "up")
	net.run("ip", "link", "set", "lo", "up")
	net.address("model", fmt.Sprintf("10.9.%d.2", n))
	return net
}

// join lays a wire between two networks and gives its ends these addresses.
func (n *network) join(other *network, ours, theirs string) {
	n.t.Helper()
	n.run("ip", "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", fmt.Sprint(other.pid))
	n.address("wire", ours)
	other.address("wire", theirs)
}

func (n *network) address(device, address string) {
	n.t.Helper()
	n.run("ip", "address", "add", address+"/24", "dev", device)
	n.run("ip", "link", "set", device, "up")
}

// inside is a command line that runs in the network. It replaces itself.
func (n *network) inside(argv ...string) []string {
	return append([]string{"nsenter", fmt.Sprintf("--net=/proc/%d/ns/net", n.pid)}, argv...)
}

func (n *network) run(argv ...string) {
	n.t.Helper()
	run(n.t, n.inside(argv...)...)
}

func run(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}

func namespaceOf(pid int) string {
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return ""
	}
	return name
}
