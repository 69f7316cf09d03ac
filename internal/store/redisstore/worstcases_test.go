package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (c *crowd) worst() []worst {
	return append(append(c.worstReads(), c.worstRooms()...), c.worstChanges()...)
}

func (c *crowd) worstReads() []worst {
	s, space := c.s, c.space
	page := c.s.limits.MaxPageItems
	next := func(q store.NextQuery) func(context.Context) error {
		return func(ctx context.Context) error { _, err := s.Next(ctx, space, "bob", q); return err }
	}
	inbox := func(owner c3po.AgentID, q store.InboxQuery) func(context.Context) error {
		q.Limit, q.Bytes = page, s.limits.PageBytes
		return func(ctx context.Context) error { _, err := s.Inbox(ctx, space, owner, q); return err }
	}
	unread := fmt.Sprintf("%d unacked", crowdMail)
	held := fmt.Sprintf("%d held by another", crowdMail)
	agents := fmt.Sprintf("%d agents", c.agents)
	return []worst{
		{name: "next, no position", size: unread + " and served, nothing noted", do: next(store.NextQuery{Reader: "r"})},
		{name: "next, no position, noted", size: unread + " and served", fresh: func() func(context.Context) error {
			c.must(s.WriteNotes(c.t.Context(), space, store.Notes{Given: []store.GivenNote{{Agent: "bob", Reader: "r2", Seq: 1 << 30}}}))
			return next(store.NextQuery{Reader: "r2"})
		}},
		{name: "next, with a position", size: unread + " and served", do: next(store.NextQuery{Reader: "r", Positioned: true})},
		{name: "next, the first", size: unread, do: next(store.NextQuery{Reader: "new"})},
		{name: "get_messages", size: fmt.Sprintf("a page of %d", page), do: inbox("bob", store.InboxQuery{})},
		{name: "get_messages of a member", size: held, do: inbox("role/review", store.InboxQuery{Member: "dora"})},
		{name: "claim the next", size: held, do: func(ctx context.Context) error {
			_, err := s.Claim(ctx, space, store.ClaimStep{Queue: "role/review", Agent: "dora", Reader: "r"})
			return err
		}},
		{name: "read a message", size: fmt.Sprintf("%d sessions", crowdSessions), do: func(ctx context.Context) error {
			_, err := s.Message(ctx, space, c.mail[0])
			return err
		}},
		{name: "read a thread", size: fmt.Sprintf("a page of %d", page), do: func(ctx context.Context) error {
			_, err := s.Thread(ctx, space, "one-thread", 0, page)
			return err
		}},
		{name: "list agents", size: fmt.Sprintf("a page of %d", page), do: func(ctx context.Context) error {
			_, err := s.AgentPage(ctx, space, 0, page)
			return err
		}},
		{name: "count who is online", size: agents, do: func(ctx context.Context) error { _, err := s.OnlineCount(ctx, space); return err }},
		{name: "names nearby", size: agents, do: func(ctx context.Context) error { _, err := s.Neighbours(ctx, space, "m5", 50); return err }},
		{name: "tickets", size: fmt.Sprintf("a page of %d", page), do: func(ctx context.Context) error { _, err := s.Tickets(ctx, space, 0, page); return err }},
		{name: "events", size: fmt.Sprintf("a page of %d", page), do: func(ctx context.Context) error { _, err := s.Events(ctx, space, 0, page); return err }},
		{name: "fsck, the bytes of an inbox", size: unread, do: func(ctx context.Context) error { _, err := s.InboxBytes(ctx, space, "bob"); return err }},
		{name: "queues", size: agents + " with two roles", do: func(ctx context.Context) error { _, err := s.Queues(ctx, space); return err }},
	}
}

func (c *crowd) worstRooms() []worst {
	s, space := c.s, c.space
	page := c.s.limits.MaxPageItems
	mail := func(id c3po.AgentID, q store.RoomQuery) func(context.Context) error {
		q.Bytes = s.limits.PageBytes
		return func(ctx context.Context) error { _, err := s.RoomMail(ctx, space, id, q); return err }
	}
	rooms := fmt.Sprintf("%d rooms with unread posts", crowdRooms-1)
	members := fmt.Sprintf("a room of %d", c.agents)
	number := 0
	named := func(text string) string { number++; return fmt.Sprint(text, " ", number) }
	return []worst{
		{name: "room mail, the next", size: rooms, do: mail("busy", store.RoomQuery{Reader: "r", Limit: 1, SkipGiven: true})},
		{name: "room mail", size: rooms + fmt.Sprintf(", a page of %d", page), do: mail("busy", store.RoomQuery{Reader: "r", Limit: page})},
		{name: "room mail of one who talks to itself", size: fmt.Sprintf("%d own posts", c.posts), do: mail("ana", store.RoomQuery{Reader: "r", Limit: page})},
		{name: "post, with five mentions", size: members, do: func(context.Context) error {
			_, err := c.post("hall", member(0), named("hello"), member(1), member(2), member(3), member(4), member(5))
			return err
		}},
		{name: "join and leave", size: members, do: func(ctx context.Context) error {
			if err := c.join("hall", "walker"); err != nil {
				return err
			}
			_, err := s.Leave(ctx, space, "hall", "walker", "")
			return err
		}},
		{name: "leave, the last one", size: fmt.Sprintf("a room of %d posts", c.posts/2), fresh: func() func(context.Context) error {
			number++
			room := c3po.RoomName(fmt.Sprint("last-", number))
			c.must(c.join(room, "walker"))
			c.each(c.posts/2, func(i int) error { _, err := c.post(room, "walker", fmt.Sprint(room, i)); return err })
			return func(ctx context.Context) error { _, err := s.Leave(ctx, space, room, "walker", ""); return err }
		}},
		{name: "ack posts", size: fmt.Sprintf("%d posts, %d sessions", s.limits.BatchIDs, crowdSessions), fresh: func() func(context.Context) error {
			var ids []c3po.MessageID
			c.said = c.said[:len(c.said)-s.limits.BatchIDs]
			for _, p := range c.said[len(c.said)-s.limits.BatchIDs:] {
				ids = append(ids, p.Message.ID)
			}
			return func(ctx context.Context) error { _, err := s.AckPosts(ctx, space, "busy", "", ids); return err }
		}},
		{name: "note what was heard", size: fmt.Sprintf("%d new sessions", noteBatch), fresh: func() func(context.Context) error {
			number += 10_000
			notes := store.Notes{ServedPosts: c.servedPosts(number, number+noteBatch)}
			return func(ctx context.Context) error { return s.WriteNotes(ctx, space, notes) }
		}},
		{name: "members of a room", size: fmt.Sprintf("a page of %d", page), do: func(ctx context.Context) error {
			_, err := s.RoomMembers(ctx, space, "hall", 0, page)
			return err
		}},
		{name: "history of a room", size: fmt.Sprintf("a page of %d", page), do: func(ctx context.Context) error {
			_, _, err := s.History(ctx, space, "mono", 0, page, s.limits.PageBytes)
			return err
		}},
	}
}

func (c *crowd) worstChanges() []worst {
	s, space := c.s, c.space
	batch := s.limits.BatchIDs
	// mail is fresh mail, so that each run has some.
	mail := func(n int, do func(context.Context, []c3po.MessageID) error) func() func(context.Context) error {
		return func() func(context.Context) error {
			c.mail = c.mail[:len(c.mail)-n]
			ids := append([]c3po.MessageID{}, c.mail[len(c.mail)-n:]...)
			return func(ctx context.Context) error { return do(ctx, ids) }
		}
	}
	letters := []c3po.MessageID{}
	full := fmt.Sprintf("an inbox of %d", crowdMail)
	of := func(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }
	run := 0
	return []worst{
		{name: "send", size: full, do: func(context.Context) error { c.send(1, "bob", ""); return nil }},
		{name: "reply", size: full, fresh: mail(1, func(ctx context.Context, ids []c3po.MessageID) error {
			_, err := s.Reply(ctx, space, store.ReplyStep{Draft: store.Draft{From: "bob", Text: "yes", Status: c3po.ReplySuccess, Key: string(ids[0])}, Answers: ids[0], Durability: c3po.OnDisk})
			return err
		})},
		{name: "ack", size: of(batch, "messages"), fresh: mail(batch, func(ctx context.Context, ids []c3po.MessageID) error {
			_, err := s.Ack(ctx, space, "bob", "", ids)
			return err
		})},
		{name: "received", size: of(batch, "messages"), fresh: mail(batch, func(ctx context.Context, ids []c3po.MessageID) error {
			_, err := s.Received(ctx, space, "bob", "r", "mcp", ids)
			return err
		})},
		{name: "ack tasks", size: of(batch, "tasks"), fresh: func() func(context.Context) error {
			c.tasks = c.tasks[:len(c.tasks)-batch]
			ids := c.tasks[len(c.tasks)-batch:]
			return func(ctx context.Context) error {
				_, err := s.AckClaimed(ctx, space, "role/review", "carl", "", ids)
				return err
			}
		}},
		{name: "cancel", size: full, fresh: mail(1, func(ctx context.Context, ids []c3po.MessageID) error {
			_, err := s.Cancel(ctx, space, store.CancelStep{From: "ana", ID: ids[0], Notice: "never mind"})
			return err
		})},
		{name: "say that nobody answers", size: full, fresh: mail(1, func(ctx context.Context, ids []c3po.MessageID) error {
			_, err := s.Silence(ctx, space, store.SilenceStep{Agent: "bob", ID: ids[0], To: "ana", Notice: "no answer"})
			return err
		})},
		{name: "note what was served, told and seen", size: of(3*noteBatch, "notes, new sessions"), fresh: mail(noteBatch, func(ctx context.Context, ids []c3po.MessageID) error {
			run += crowdSessions
			notes := store.Notes{Served: servedNotes(ids, "another"), Notified: c.notified(run, run+noteBatch)}
			for i := range noteBatch {
				notes.Seen = append(notes.Seen, member(i))
			}
			return s.WriteNotes(ctx, space, notes)
		})},
		{name: "bury", size: full, fresh: mail(1, func(ctx context.Context, ids []c3po.MessageID) error {
			letters = append(letters, ids[0])
			_, err := s.Bury(ctx, space, ids[0], c3po.ReasonExpired, "too late")
			return err
		})},
		{name: "replay a dead letter", size: full, fresh: func() func(context.Context) error {
			id := letters[len(letters)-1]
			letters = letters[:len(letters)-1]
			return func(ctx context.Context) error {
				_, err := s.Revive(ctx, space, id, store.ReviveStep{Notice: "it is back", Durability: c3po.OnDisk})
				return err
			}
		}},
		{name: "register, all numbers taken", size: of(store.MaxNumbered, "agents of one name"), do: func(ctx context.Context) error {
			run++
			_, err := s.Register(ctx, space, store.RegisterStep{Want: "many", Run: fmt.Sprint("run-", run), Session: fmt.Sprint("session-", run)})
			return err
		}},
		{name: "a coordinator ends", size: of(c.agents, "connections"), fresh: func() func(context.Context) error {
			c.each(c.agents, func(i int) error { return s.Attach(c.t.Context(), space, member(i), "node", c3po.SessionWaiting) })
			return func(ctx context.Context) error { return s.EndLease(ctx, space, "node") }
		}},
		{name: "pause the space", size: of(c.agents, "agents"), do: func(ctx context.Context) error {
			run++
			return s.SetPaused(ctx, space, "", fmt.Sprint("why ", run))
		}},
		{name: "retire", size: of(200, "unacked"), fresh: func() func(context.Context) error {
			run++
			id := c3po.AgentID(fmt.Sprint("gone-", run))
			c.register(id)
			c.send(200, id, "")
			_, err := s.Unregister(c.t.Context(), space, id, "", "")
			c.must(err)
			return func(ctx context.Context) error { _, err := s.Retire(ctx, space, id, 0, false); return err }
		}},
		{name: "tick", size: of(c.agents, "agents"), do: func(ctx context.Context) error { _, err := s.Tick(ctx, space, "node", time.Millisecond); return err }},
		{name: "trim", size: of(c.ended, "ended, 500 at once"), do: func(ctx context.Context) error { _, err := c.tight.Trim(ctx, space, 500); return err }},
	}
}
