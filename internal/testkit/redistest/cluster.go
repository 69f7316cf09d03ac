package redistest

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	clusterMasters = 3
	clusterSlots   = 16384
	clusterTimeout = 60 * time.Second
)

// Cluster starts a cluster of three masters for this test and returns their
// addresses, "127.0.0.1:PORT", once all of them agree on all slots.
func Cluster(t testing.TB) []string {
	t.Helper()
	var addrs, buses []string
	for range clusterMasters {
		p, bus := startNode(t, loopback, nil)
		t.Cleanup(p.kill)
		addrs, buses = append(addrs, p.addr), append(buses, bus)
	}
	meet(t, addrs, buses)
	if err := poll(clusterTimeout, func() (bool, error) { return allAgree(addrs) }); err != nil {
		t.Fatalf("form a cluster of %v: %v", addrs, err)
	}
	return addrs
}

// meet gives each master its share of the slots and makes them know each other.
func meet(t testing.TB, addrs, buses []string) {
	t.Helper()
	for i, addr := range addrs {
		first, last := i*clusterSlots/clusterMasters, (i+1)*clusterSlots/clusterMasters-1
		must(t, addr, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(first), strconv.Itoa(last))
		// Distinct epochs from the start, as redis-cli does it: no election to wait for.
		must(t, addr, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
	}
	for i, addr := range addrs[1:] {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		must(t, addrs[0], "CLUSTER", "MEET", host, port, buses[i+1])
	}
}

// startNode starts one member on an address of this machine. Its bus has a free port of its own, because the
// usual one, 10000 above, may not exist.
func startNode(t testing.TB, ip string, args []string) (p *process, busPort string) {
	t.Helper()
	binary := find(t)
	var last error
	for range startTries {
		bus, err := freeAddr(ip)
		if err != nil {
			t.Fatal(err)
		}
		_, busPort, err := net.SplitHostPort(bus)
		if err != nil {
			t.Fatal(err)
		}
		clientAddr, err := freeAddr(ip)
		if err != nil {
			t.Fatal(err)
		}
		p, err := startAt(binary, t.TempDir(), clientAddr, nil, append([]string{
			"--bind", ip, "--protected-mode", "no",
			"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-port", busPort,
		}, args...))
		if err == nil {
			return p, busPort
		}
		last = err
	}
	t.Fatalf("start a cluster node: %v", last)
	return nil, ""
}

func allAgree(addrs []string) (bool, error) {
	for _, addr := range addrs {
		info, err := Do(addr, "CLUSTER", "INFO")
		if err != nil {
			return false, err
		}
		text, _ := info.(string)
		if !strings.Contains(text, "cluster_state:ok") ||
			!strings.Contains(text, fmt.Sprintf("cluster_slots_ok:%d", clusterSlots)) ||
			!strings.Contains(text, fmt.Sprintf("cluster_size:%d", clusterMasters)) {
			return false, nil
		}
	}
	return true, nil
}

func must(t testing.TB, addr string, args ...string) {
	t.Helper()
	if _, err := Do(addr, args...); err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
}
