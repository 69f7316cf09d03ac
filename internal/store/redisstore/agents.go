package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// fewNumbers is how many numbered ids are tried in the common case; only when
// all are taken does a second step try them all.
const fewNumbers = 6

// Register implements store.Store.
func (s *Store) Register(ctx context.Context, space c3po.Space, step store.RegisterStep) (store.Registration, error) {
	if err := s.enter(ctx, space); err != nil {
		return store.Registration{}, err
	}
	for {
		registration, renamed, err := s.registerAmong(ctx, space, step, step.Candidates(false), false)
		if err != nil || !renamed {
			return registration, err
		}
		target, answers, err := s.Renamed(ctx, space, step.Want)
		if err != nil {
			return store.Registration{}, err
		}
		records, err := s.Agents(ctx, space, []c3po.AgentID{target})
		if err != nil {
			return store.Registration{}, err
		}
		if len(records) == 0 {
			// Renamed once more between the two reads, or retired.
			again, _, err := s.Renamed(ctx, space, step.Want)
			if err != nil {
				return store.Registration{}, err
			}
			if again != target {
				continue
			}
		}
		switch {
		case len(records) == 1 && store.Follows(records[0], step.Run, answers):
			if step.Agents != "" && !step.Agents.Covers(target) {
				return store.Registration{}, store.RefuseOtherName(target, step.Agents)
			}
			// It may be called something else again before this is done.
			step.Want = target
			continue
		default:
			anothers := answers && len(records) == 1
			registration, _, err = s.registerAmong(ctx, space, step, step.Candidates(anothers), true)
		}
		return registration, err
	}
}

// registerAmong tries the candidates. It says whether the wanted id is a former
// name, unless that does not matter.
func (s *Store) registerAmong(ctx context.Context, space c3po.Space, step store.RegisterStep, candidates []c3po.AgentID, whatever bool) (store.Registration, bool, error) {
	for _, most := range []int{fewNumbers, store.MaxNumbered} {
		if len(candidates) == 0 {
			break
		}
		registration, outcome, err := s.register(ctx, space, step, candidates[:min(most, len(candidates))], len(candidates), whatever)
		if err != nil || outcome != "taken" {
			return registration, outcome == "renamed", err
		}
	}
	return store.Registration{}, false, store.RefuseAllTaken(step)
}

func (s *Store) register(ctx context.Context, space c3po.Space, step store.RegisterStep, candidates []c3po.AgentID, all int, whatever bool) (store.Registration, string, error) {
	k := keysOf(space)
	given := with{
		"run": step.Run, "sighted": step.Sighted, "session": step.Session, "epoch": step.Epoch, "explicit": step.Explicit, "client": step.Profile.Client,
		"all": all, "full_store": false, "whatever": whatever, "fields": profileFields(step.Profile),
	}
	var rows []with
	for _, id := range candidates {
		rows = append(rows, with{"of": k.of(id), "id": id})
	}
	given["candidates"] = rows
	answer, err := s.run(ctx, "agent_register", k, given)
	full := err
	if errors.Is(err, c3po.StoreFull) {
		given["full_store"] = true
		answer, err = s.run(ctx, knownRegister, k, given)
	}
	if err != nil {
		return store.Registration{}, "", err
	}
	switch outcome := word(answer[0]); outcome {
	case "full":
		return store.Registration{}, "", full
	case "superseded":
		return store.Registration{}, "", store.RefuseSuperseded(step.Want)
	case "taken", "renamed":
		return store.Registration{}, outcome, nil
	}
	return store.Registration{
		Record: record(c3po.AgentID(word(answer[1])), answer[4]),
		Now:    instant(integer(answer[2])),
		Unread: int(integer(answer[3])),
		Owed:   int(integer(answer[5])),
	}, "", nil
}

// profileFields is what a profile says: a field that is zero is left as it is.
func profileFields(p store.Profile) []with {
	var said []with
	say := func(field, value string) {
		if value != "" {
			said = append(said, with{"field": field, "value": value})
		}
	}
	say("name", p.Name)
	say("type", p.Type)
	say("cwd", p.Cwd)
	say("host", p.Host)
	say("metadata", string(p.Metadata))
	if p.PID != 0 {
		say("pid", itoa(p.PID))
		say("pid_start", itoa(p.PIDStart))
	}
	if p.Heartbeat != 0 {
		say("heartbeat", itoa(max(0, p.Heartbeat)))
	}
	if p.Capabilities != nil {
		capabilities, _ := json.Marshal(p.Capabilities)
		said = append(said, with{"field": "capabilities", "value": string(capabilities)},
			with{"field": "roles", "value": strings.Join(queueNames(p.Capabilities), " ")})
	}
	return said
}

// toldFields are what addressee() of lib.lua reads of an agent, in its order.
var toldFields = []string{
	"seen", "node", "gone", "heartbeat", "availability", "paused", "cut", "state", "state_at", "pid", "pid_start", "capabilities",
	"quota_until", "quota",
}

// recipient reads what the steps that store a message say of its recipient.
func recipient(id c3po.AgentID, told rueidis.RedisMessage) store.Record {
	parts := list(told)
	values := list(parts[0])
	of := func(name string) string { return word(values[slices.Index(toldFields, name)]) }
	r := store.Record{
		ID:           id,
		Seen:         instant(atoi(of("seen"))),
		Left:         of("gone") != "",
		Gone:         of("gone") != "" && of("cut") == "",
		Attached:     integer(parts[1]) == 1,
		Online:       integer(parts[2]) == 1,
		Availability: c3po.Availability(of("availability")),
		Paused:       cmp.Or(of("paused"), word(parts[3])),
		Profile:      store.Profile{PID: int(atoi(of("pid"))), PIDStart: atoi(of("pid_start")), Heartbeat: int(atoi(of("heartbeat")))},
	}
	if r.Attached {
		r.Node, r.State, r.StateAt = of("node"), c3po.SessionState(of("state")), instant(atoi(of("state_at")))
	}
	if integer(parts[4]) == 1 {
		r.OutOfQuota = outOfQuota(of("quota_until"), of("quota"))
	}
	if text := of("capabilities"); text != "" && text != "[]" {
		_ = json.Unmarshal([]byte(text), &r.Profile.Capabilities)
	}
	return r
}

// recipientOf is recipient, unless the mailbox is a queue's.
func recipientOf(id c3po.AgentID, told rueidis.RedisMessage) store.Record {
	if id.Queue() != "" {
		return store.Record{ID: id}
	}
	return recipient(id, told)
}

// record reads what card() of lib.lua wrote.
func record(id c3po.AgentID, card rueidis.RedisMessage) store.Record {
	parts := list(card)
	fields, _ := parts[0].AsStrMap()
	r := store.Record{
		ID:           id,
		RegisteredAt: instant(atoi(fields["registered"])),
		RegSeq:       atoi(fields["order"]),
		Run:          fields["run"],
		Sighted:      fields["run"] != "" && fields["sighted"] == fields["run"],
		Session:      fields["session"],
		Epoch:        atoi(fields["epoch"]),
		Seen:         instant(atoi(fields["seen"])),
		Died:         instant(atoi(fields["died"])),
		Left:         fields["gone"] != "",
		Attached:     integer(parts[1]) == 1,
		Online:       integer(parts[2]) == 1,
		Former:       parseFormer(fields["was"]),
		Gone:         fields["gone"] != "" && fields["cut"] == "",
		Availability: c3po.Availability(fields["availability"]),
		CurrentTask:  fields["task"],
		Paused:       fields["paused"],
		Profile: store.Profile{
			Name: fields["name"], Type: fields["type"], Cwd: fields["cwd"], Host: fields["host"], Client: fields["client"],
			PID: int(atoi(fields["pid"])), PIDStart: atoi(fields["pid_start"]), Heartbeat: int(atoi(fields["heartbeat"])),
		},
	}
	if r.Attached {
		r.Node, r.State, r.StateAt = fields["node"], c3po.SessionState(fields["state"]), instant(atoi(fields["state_at"]))
	}
	if integer(parts[4]) == 1 {
		r.OutOfQuota = outOfQuota(fields["quota_until"], fields["quota"])
	}
	r.Rooms = roomNames(strings.Fields(fields["rooms"]))
	if r.Paused == "" {
		r.Paused = word(parts[3])
	}
	if text := fields["metadata"]; text != "" {
		r.Profile.Metadata = []byte(text)
	}
	// Written by profileFields: it can only fail if somebody else wrote the key,
	// and an agent without capabilities is then the honest reading.
	if text := fields["capabilities"]; text != "" && text != "[]" {
		_ = json.Unmarshal([]byte(text), &r.Profile.Capabilities)
	}
	return r
}

// parseFormer reads the names an agent had before, the latest first.
func parseFormer(text string) []c3po.AgentID {
	var ids []c3po.AgentID
	for _, name := range strings.Fields(text) {
		ids = append(ids, c3po.AgentID(name))
	}
	return ids
}

func atoi(text string) int64 {
	if text == "" {
		return 0 // without an error made for it
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Unregister implements store.Store.
func (s *Store) Unregister(ctx context.Context, space c3po.Space, id c3po.AgentID, run, standIn string) (bool, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, "agent_unregister", k,
		with{"agent": k.agent(id), "id": id, "run": run, "stand_in": standIn, "lease": millis(s.limits.NodeLease)})
	return err == nil && word(answer[0]) == "ended", err
}

// Die implements store.Store.
func (s *Store) Die(ctx context.Context, space c3po.Space, id c3po.AgentID, run string) (bool, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, "run_end", k, with{"agent": k.agent(id), "id": id, "run": run})
	return err == nil && word(answer[0]) == "died", err
}

// DieDeclared implements store.Store.
func (s *Store) DieDeclared(ctx context.Context, space c3po.Space, id c3po.AgentID, process store.Declared) (bool, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, "process_end", k,
		with{"agent": k.agent(id), "id": id, "pid": process.PID, "start": process.Start, "was_there": process.Seen})
	return err == nil && word(answer[0]) == "died", err
}

// SetStatus implements store.Store.
func (s *Store) SetStatus(ctx context.Context, space c3po.Space, id c3po.AgentID, run string, a c3po.Availability, task string) error {
	k := keysOf(space)
	answer, err := s.run(ctx, "status_set", k, with{"agent": k.agent(id), "run": run, "availability": a, "task": task})
	if err != nil {
		return err
	}
	return agentOutcome(word(answer[0]), id)
}

// SetQuota implements store.Store.
func (s *Store) SetQuota(ctx context.Context, space c3po.Space, step store.QuotaStep) error {
	k := keysOf(space)
	answer, err := s.run(ctx, "quota_set", k, with{
		"agent": k.agent(step.Agent), "run": step.Run, "length": millis(step.For), "exact": step.Exact, "evidence": step.Evidence,
	})
	if err != nil {
		return err
	}
	return agentOutcome(word(answer[0]), step.Agent)
}

// outOfQuota reads what quota_set.lua wrote.
func outOfQuota(until, said string) *c3po.OutOfQuota {
	since, said, _ := strings.Cut(said, " ")
	exact, evidence, _ := strings.Cut(said, " ")
	return &c3po.OutOfQuota{Until: instant(atoi(until)), Since: instant(atoi(since)), Exact: exact == "1", Evidence: evidence}
}

// SetPaused implements store.Store.
func (s *Store) SetPaused(ctx context.Context, space c3po.Space, id c3po.AgentID, why string) error {
	k := keysOf(space)
	subject := k.agent(id)
	if id == "" {
		subject = k.meta()
	}
	answer, err := s.run(ctx, "agent_pause", k, with{"subject": subject, "id": id, "why": why})
	if err != nil {
		return err
	}
	return agentOutcome(word(answer[0]), id)
}

func agentOutcome(outcome string, id c3po.AgentID) error {
	switch outcome {
	case "unknown":
		return store.RefuseNoAgent(id)
	case "superseded":
		return store.RefuseSuperseded(id)
	}
	return nil
}

// maxCards is how many records one step reads.
const maxCards = 100

// Agents implements store.Store.
func (s *Store) Agents(ctx context.Context, space c3po.Space, ids []c3po.AgentID) ([]store.Record, error) {
	k := keysOf(space)
	var out []store.Record
	for some := range slices.Chunk(ids, maxCards) {
		var agents []string
		for _, id := range some {
			agents = append(agents, k.agent(id))
		}
		answer, err := s.run(ctx, "agent_read", k, with{"agents": agents})
		if err != nil {
			return nil, err
		}
		for i, card := range answer {
			if r := record(some[i], card); r.RegSeq != 0 {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// AgentPage implements store.Store.
func (s *Store) AgentPage(ctx context.Context, space c3po.Space, after int64, limit int) ([]store.Record, error) {
	b := s.commands.B()
	ids, err := s.ids(ctx, b.Zrangebyscore().Key(keysOf(space).agents()).Min("("+itoa(after)).Max("+inf").Limit(0, int64(limit)).Build())
	if err != nil {
		return nil, err
	}
	return s.Agents(ctx, space, ids)
}
