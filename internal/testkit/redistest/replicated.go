package redistest

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
)

// maxMigratedKeys is how many keys one step of MoveSlot takes along.
const maxMigratedKeys = 100

// A Replicated is a cluster of three masters, each with a replica, whose servers
// can be hurt.
type Replicated struct {
	t       testing.TB
	servers []*Server // masters first, then their replicas in the same order
}

// NewReplicated starts one on an address of this machine and returns when all of
// it agrees and every replica follows its master.
func NewReplicated(t testing.TB, ip string, args ...string) *Replicated {
	t.Helper()
	c := &Replicated{t: t}
	var addrs, buses []string
	for range 2 * clusterMasters {
		// A master otherwise waits for more replicas before it begins with one.
		p, bus := startNode(t, ip, append([]string{"--repl-diskless-sync-delay", "0"}, args...))
		s := &Server{t: t, process: p}
		t.Cleanup(func() { s.process.kill() })
		c.servers, addrs, buses = append(c.servers, s), append(addrs, p.addr), append(buses, bus)
	}
	meet(t, addrs[:clusterMasters], buses)
	for i, addr := range addrs[clusterMasters:] {
		// It asks the first one in turn: whoever meets is known to all by gossip.
		host, port, err := net.SplitHostPort(addrs[0])
		if err != nil {
			t.Fatal(err)
		}
		must(t, addr, "CLUSTER", "MEET", host, port, buses[0])
		master := c.ID(c.servers[i])
		if err := poll(clusterTimeout, func() (bool, error) {
			// Refused until it has heard of that master.
			_, err := Do(addr, "CLUSTER", "REPLICATE", master)
			return err == nil, nil
		}); err != nil {
			t.Fatalf("%s does not follow %s: %v", addr, addrs[i], err)
		}
	}
	if err := poll(clusterTimeout, func() (bool, error) {
		for _, s := range c.servers[clusterMasters:] {
			info, err := Do(s.Addr(), "INFO", "replication")
			if err != nil || !strings.Contains(fmt.Sprint(info), "master_link_status:up") {
				return false, err
			}
		}
		return allAgree(addrs)
	}); err != nil {
		t.Fatalf("form a replicated cluster of %v: %v", addrs, err)
	}
	return c
}

// URL is the masters as --redis takes them.
func (c *Replicated) URL() string {
	var addrs []string
	for _, s := range c.servers[:clusterMasters] {
		addrs = append(addrs, s.Addr())
	}
	return "redis://" + strings.Join(addrs, ",")
}

// Servers are all of it, the masters it began with first.
func (c *Replicated) Servers() []*Server { return c.servers }

// ID is the cluster's own name of a server.
func (c *Replicated) ID(s *Server) string {
	c.t.Helper()
	id, err := Do(s.Addr(), "CLUSTER", "MYID")
	if err != nil {
		c.t.Fatal(err)
	}
	return id.(string)
}

// Shard is the master that the keys with a hash tag were given to at the start,
// and its replica.
func (c *Replicated) Shard(tag string) (master, replica *Server) {
	c.t.Helper()
	for i := range clusterMasters {
		if slot := c.Slot(tag); slot < (i+1)*clusterSlots/clusterMasters {
			return c.servers[i], c.servers[clusterMasters+i]
		}
	}
	return nil, nil
}

// Slot is the one of a hash tag.
func (c *Replicated) Slot(tag string) int {
	c.t.Helper()
	slot, err := Do(c.servers[0].Addr(), "CLUSTER", "KEYSLOT", tag)
	if err != nil {
		// The first one may be the one that was killed.
		slot, err = Do(c.servers[1].Addr(), "CLUSTER", "KEYSLOT", tag)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return int(slot.(int64))
}

// MoveSlot moves a slot and its keys from one master to another, as
// redis-cli --cluster reshard does it.
func (c *Replicated) MoveSlot(slot int, from, to *Server) {
	c.t.Helper()
	number := strconv.Itoa(slot)
	must(c.t, to.Addr(), "CLUSTER", "SETSLOT", number, "IMPORTING", c.ID(from))
	must(c.t, from.Addr(), "CLUSTER", "SETSLOT", number, "MIGRATING", c.ID(to))
	host, port, err := net.SplitHostPort(to.Addr())
	if err != nil {
		c.t.Fatal(err)
	}
	for {
		keys, err := Do(from.Addr(), "CLUSTER", "GETKEYSINSLOT", number, strconv.Itoa(maxMigratedKeys))
		if err != nil {
			c.t.Fatal(err)
		}
		names := keys.([]any)
		if len(names) == 0 {
			break
		}
		move := []string{"MIGRATE", host, port, "", "0", "5000", "KEYS"}
		for _, name := range names {
			move = append(move, name.(string))
		}
		must(c.t, from.Addr(), move...)
	}
	// The new master first: if it is the last to know, nobody has the slot.
	for _, s := range []*Server{to, from} {
		must(c.t, s.Addr(), "CLUSTER", "SETSLOT", number, "NODE", c.ID(to))
	}
}
