package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/c3po-dev/c3po/c3po"
)

// compareKeys compares every key of a space, and what is in it, with what the
// model holds: a key that was left behind, or did not move, is a divergence. The
// other comparisons say whether the values are right.
func (d *comparison) compareKeys(a *comparedSpace, after string) {
	d.Helper()
	if d.rival.Holds == nil {
		return
	}
	want := d.model.holdings(a.space)
	got := map[string][]string{}
	for key, fields := range d.rival.Holds(a.space) {
		switch kind, id, _ := strings.Cut(key, ":"); {
		case kind == "skips":
			// What it is not shown is compared with RoomMail: here, that it has left no room behind.
			fields = slices.DeleteFunc(fields, func(field string) bool {
				room, _, _ := strings.Cut(field, "\x00")
				return want.seats[id+" "+room]
			})
			want.allows[key] = len(fields) == 0
		case kind == "rate":
			// Each send that counts is there once, by its number; engines forget them in time.
			want.allows[key] = len(fields) == want.sends[id]
		case want.boxes[key]:
			// The counts of all stay, those of a sender go with its last message.
			fields = slices.DeleteFunc(fields, func(field string) bool { return field == "n" || field == "b" })
			want.allows[key] = len(fields) == 0
		}
		if !want.allows[key] {
			got[key] = slices.Sorted(slices.Values(fields))
		}
	}
	for key, fields := range want.keys {
		slices.Sort(fields)
		want.keys[key] = slices.Compact(fields)
	}
	if diff := cmp.Diff(want.keys, got, cmpopts.EquateEmpty()); diff != "" {
		d.Fatalf("what is kept after %s (-model +store):\n%s", after, diff)
	}
}

// holdings are the keys of a space that are not empty, each with its fields, and
// those of which only the name can be known.
type holdings struct {
	keys   map[string][]string
	allows map[string]bool
	boxes  map[string]bool // of mailboxes there are
	seats  map[string]bool // "agent room" of each membership
	sends  map[string]int  // of each sender, those that count for its rate
}

func (h holdings) put(key string, fields ...string) { h.keys[key] = append(h.keys[key], fields...) }

// holdings spells a space as redisstore keeps it; its doc.go is the legend.
func (m *Model) holdings(name c3po.Space) holdings {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	h := holdings{keys: map[string][]string{}, seats: map[string]bool{}, sends: map[string]int{}, allows: map[string]bool{
		// Counters, Events and Send compare what is in these.
		"meta": true, "events": true, "flow": true, "flowx": true,
		// A lease that ended is forgotten in its own time.
		"nodes": true,
	}, boxes: map[string]bool{"box:" + string(c3po.Human): true, "box:" + string(queueX): true}}
	h.agents(sp)
	h.mail(sp)
	h.rooms(sp)
	h.files(sp)
	for queue := range sp.queues {
		h.put("roles", queue.Queue()+" ")
	}
	for _, r := range sp.retired {
		h.put("retired", string(r.id))
		h.boxes["box:"+string(r.id)] = true
	}
	for id := range sp.renamed {
		h.put("renamed", string(id))
	}
	h.edits(sp)
	for session := range sp.sessions {
		h.put("sessions", session)
	}
	for alias := range sp.aliases {
		h.put("aliases", alias)
	}
	for key := range sp.keys {
		h.put("idem", string(key.from)+"\x00"+key.name)
		h.put("idemx", string(key.from)+"\x00"+key.name)
	}
	for id, sent := range sp.sends {
		h.sends[string(id)] = len(sent)
	}
	for id, readers := range sp.marks {
		h.put("mark:"+string(id), slices.Collect(maps.Keys(readers))...)
	}
	for key := range sp.servedPosts {
		h.put("reads:"+string(key.agent), string(key.room)+"\x00"+key.reader)
	}
	return h
}

func (h holdings) agents(sp *space) {
	for id, a := range sp.agents {
		for _, list := range []string{"agents", "seen", "heard"} {
			h.put(list, string(id))
		}
		h.put("names", id.Name()+" "+string(id))
		if a.node != "" && a.goneAt.IsZero() {
			h.put("attached", a.node+" "+string(id))
		}
		for _, queue := range c3po.QueuesOf(a.profile.Capabilities) {
			h.put("roles", queue.Queue()+" "+string(id))
		}
		for room := range a.rooms {
			h.put("joined:"+string(id), string(room))
			h.seats[string(id)+" "+string(room)] = true
		}
		h.seats[string(id)+" "+string(c3po.Everybody)] = true
		// Its record is compared with Agents.
		h.allows["agent:"+string(id)], h.boxes["box:"+string(id)] = true, true
	}
}

func (h holdings) mail(sp *space) {
	owners := map[c3po.AgentID]bool{}
	for id, msg := range sp.messages {
		_, to, hex := id.Split()
		h.put("body:"+string(to), hex)
		h.put("fact:"+string(to), hex)
		thread := msg.view.Thread
		h.put("threads", fmt.Sprintf("%d:%s\x00%016d\x00%s", len(thread), thread, msg.view.Seq, msg.listed))
		if msg.view.ExpectsReply {
			h.put("tickets", string(msg.listed))
		}
		switch {
		case msg.state == c3po.StatePending:
			h.put("inbox:"+string(to), hex)
			h.put("box:"+string(to), "n:"+string(msg.view.FromAgent), "b:"+string(msg.view.FromAgent))
			if msg.facts.Expires > 0 {
				h.put("expire", string(id))
			}
		case msg.kept():
			h.put("ended:"+string(to), hex)
			owners[to] = true
		default:
			h.put("dead", string(id))
			if msg.reason == c3po.ReasonRecipientRemoved {
				h.put("owed", fmt.Sprintf("%s\x00%016d\x00%s", to, msg.endSeq, id))
			}
		}
	}
	for id := range owners {
		h.put("ending", string(id))
	}
	for id := range sp.deadlines {
		h.put("deadlines", string(id))
	}
}

func (h holdings) rooms(sp *space) {
	for name, r := range sp.rooms {
		if name == c3po.Everybody && r.last == (seat{}) {
			continue // nothing was ever said
		}
		h.put("rooms", string(name))
		for _, p := range r.posts {
			h.put("room:"+string(name), fmt.Sprint(p.Message.Seq))
		}
		if name == c3po.Everybody {
			continue
		}
		h.put("roomorder", string(name))
		for id := range r.members {
			h.put("members:"+string(name), string(id))
		}
		for id := range r.invited {
			h.put("invited:"+string(name), string(id))
		}
	}
}
