package doctor_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/doctor"
)

// healthy is a host where nothing is to be mended.
func healthy() doctor.Facts {
	return doctor.Facts{
		Now: today, Version: "1.2", Program: "/bin/c3po", OnPath: "/bin/c3po", Name: "api", Disk: gibibytes(20),
		Files: []doctor.File{{Name: "/home/u/.config/c3po/credentials.json"}},
		Clients: []doctor.Client{{
			Name: "claude", Type: "claude-code", Installed: true, Binary: "/bin/c3po", Fix: "c3po install claude",
			LastHook: &doctor.HookRun{Event: "Stop", Agent: "api", At: today.Add(-time.Hour), Took: 3 * time.Millisecond},
		}},
		Entries:  []doctor.Entry{{File: ".codex/config.toml", Client: "codex", Program: "c3po", Found: "/bin/c3po"}},
		Sessions: []doctor.Session{{Agent: "box/api", PID: 7, Type: "claude-code", Connected: true, Hooked: true}},
		Coordinator: doctor.Coordinator{
			URL: "https://nas:8420", Round: time.Millisecond, Trip: &doctor.Trip{Took: time.Millisecond},
			TLS: doctor.TLS{Secure: true, Pinned: true, Expires: today.AddDate(10, 0, 0)},
			Info: &c3po.ServerInfo{
				Version: "1.2", Space: "main", Durability: c3po.OnDisk,
				Access: c3po.Access{Role: c3po.RoleAgent, Agents: "box/*", KID: "k3xv2ab7qmzd", Expires: today.AddDate(1, 0, 0)},
				Engine: &c3po.Engine{Name: "redis", Version: "7.4.6", Eviction: "noeviction", MemoryUsed: 1 << 20, Disk: gibibytes(20)},
			},
			Audit: &c3po.Audit{Balanced: true, Epoch: 1},
		},
	}
}

// today is when the host is looked at.
var today = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func gibibytes(n int64) *int64 {
	n <<= 30
	return &n
}

func mebibytes(n int64) *int64 {
	n <<= 20
	return &n
}

func TestEachTroubleHasAVerdictAndAFix(t *testing.T) {
	t.Parallel()
	ours := func(code c3po.Code, words string) error { return c3po.Errorf(code, "%s", words).Suggest("Do this.") }
	for name, c := range map[string]struct {
		with    func(*doctor.Facts)
		verdict doctor.Verdict
		check   string
		says    string
	}{
		"another c3po":       {func(f *doctor.Facts) { f.OnPath = "/usr/bin/c3po" }, doctor.Yellow, "program", "/usr/bin/c3po"},
		"not in the PATH":    {func(f *doctor.Facts) { f.OnPath = "" }, doctor.Yellow, "program", "not in the PATH"},
		"a misspelt key":     {func(f *doctor.Facts) { f.Config = ours(c3po.InvalidRequest, "line 3") }, doctor.Red, "settings", "line 3"},
		"open credentials":   {func(f *doctor.Facts) { f.Files[0].Open = true }, doctor.Red, "credentials", "others may read"},
		"half credentials":   {func(f *doctor.Facts) { f.Files[0].Err = ours(c3po.InvalidRequest, "cannot read") }, doctor.Red, "credentials", "cannot read"},
		"switched off":       {func(f *doctor.Facts) { f.OffHere = true }, doctor.Yellow, "switch", "off"},
		"plugin off":         {func(f *doctor.Facts) { f.Clients[0].Off = true }, doctor.Yellow, "claude", "switched off"},
		"old plugin":         {func(f *doctor.Facts) { f.Clients[0].Stale = []string{"hooks.json"} }, doctor.Yellow, "claude", "hooks.json"},
		"hooks of nothing":   {func(f *doctor.Facts) { f.Clients[0].Binary = "" }, doctor.Red, "claude", "not there"},
		"a client that dies": {func(f *doctor.Facts) { f.Clients[0].Err = ours(c3po.Internal, "claude plugin list") }, doctor.Red, "claude", "claude plugin list"},
		"a session cut off":  {func(f *doctor.Facts) { f.Sessions[0].Trouble = "away" }, doctor.Yellow, "session", "box/api, pid 7: away"},
		"no coordinator":     {func(f *doctor.Facts) { f.Coordinator.Err = ours(c3po.CoordDown, "x") }, doctor.Red, "coordinator", "there is none at"},
		"no Redis":           {func(f *doctor.Facts) { f.Coordinator.Err = ours(c3po.RedisUnavailable, "Redis is away") }, doctor.Red, "coordinator", "Redis is away"},
		"not let in": {func(f *doctor.Facts) {
			f.Coordinator.Info, f.Coordinator.Why = nil, ours(c3po.Unauthorized, "no token")
		}, doctor.Red, "access", "no token"},
		"open to all":            {func(f *doctor.Facts) { f.Coordinator.Info.Auth = "none" }, doctor.Red, "access", "authentication is off"},
		"another version":        {func(f *doctor.Facts) { f.Coordinator.Info.Version = "1.1" }, doctor.Yellow, "versions", "1.1"},
		"a wrong clock":          {func(f *doctor.Facts) { f.Coordinator.Skew = -time.Minute }, doctor.Yellow, "clock", "1m0s"},
		"a slow way":             {func(f *doctor.Facts) { f.Coordinator.Round = time.Second }, doctor.Yellow, "latency", "1s"},
		"memory only":            {func(f *doctor.Facts) { f.Coordinator.Info.Durability = c3po.InMemory }, doctor.Yellow, "durability", "power cut"},
		"an old Redis":           {func(f *doctor.Facts) { f.Coordinator.Info.Engine.Version = "6.2.1" }, doctor.Red, "redis version", "6.2.1"},
		"eviction":               {func(f *doctor.Facts) { f.Coordinator.Info.Engine.Eviction = "allkeys-lru" }, doctor.Red, "redis eviction", "allkeys-lru"},
		"a failing disk":         {func(f *doctor.Facts) { f.Coordinator.Info.Engine.Problems = []string{"the last write failed"} }, doctor.Red, "redis disk", "the last write failed"},
		"little memory":          {func(f *doctor.Facts) { f.Coordinator.Info.Engine.MaxMemory = 1 << 20 }, doctor.Yellow, "redis memory", "1 of 1 MiB"},
		"missing mail":           {func(f *doctor.Facts) { f.Coordinator.Audit.Balanced = false }, doctor.Red, "books", "missing"},
		"a store that went back": {func(f *doctor.Facts) { f.Coordinator.Audit.Epoch = 2 }, doctor.Yellow, "books", "epoch 2"},
		"dead letters":           {func(f *doctor.Facts) { f.Coordinator.Audit.Dead = 3 }, doctor.Yellow, "books", "nobody acked 3"},
		"a trip that fails": {func(f *doctor.Facts) {
			f.Coordinator.Trip = &doctor.Trip{Err: ours(c3po.StoreFull, "the inbox is full")}
		}, doctor.Red, "round trip", "the inbox is full"},
		"damaged letters":       {func(f *doctor.Facts) { f.Coordinator.Corrupt = 2 }, doctor.Yellow, "books", "2 messages were found damaged"},
		"little disk":           {func(f *doctor.Facts) { f.Disk = mebibytes(500) }, doctor.Yellow, "disk", "500 MiB are free"},
		"a full disk":           {func(f *doctor.Facts) { f.Disk = mebibytes(5) }, doctor.Red, "disk", "5 MiB are free"},
		"little disk for Redis": {func(f *doctor.Facts) { f.Coordinator.Info.Engine.Disk = mebibytes(500) }, doctor.Yellow, "redis disk", "500 MiB"},
		"a full disk of Redis":  {func(f *doctor.Facts) { f.Coordinator.Info.Engine.Disk = mebibytes(5) }, doctor.Red, "redis disk", "5 MiB"},
		"no room for a rewrite": {func(f *doctor.Facts) { f.Coordinator.Info.Engine.MemoryUsed = 15 << 30 }, doctor.Yellow, "redis disk", "20480 MiB"},
		"an impostor": {func(f *doctor.Facts) {
			f.Coordinator.Err = ours(c3po.Forbidden, "not a coordinator that is trusted here")
		}, doctor.Red, "tls", "trusted"},
		"no TLS":                 {func(f *doctor.Facts) { f.Coordinator.TLS = doctor.TLS{} }, doctor.Yellow, "tls", "can be read"},
		"an old authority":       {func(f *doctor.Facts) { f.Coordinator.TLS.Expires = today.AddDate(0, 0, 3) }, doctor.Yellow, "tls", "2026-11-18"},
		"an old token":           {func(f *doctor.Facts) { f.Coordinator.Info.Access.Expires = today.Add(time.Hour) }, doctor.Yellow, "token", "k3xv2ab7qmzd ends on 2026-11-15 13:00:00"},
		"the token of a watcher": {func(f *doctor.Facts) { f.Coordinator.Info.Access = c3po.Access{Role: c3po.RoleObserver} }, doctor.Yellow, "token", "of the role observer"},
		"a token of another name": {func(f *doctor.Facts) {
			f.Coordinator.Info.Access.Agents = "box/web*"
		}, doctor.Red, "name", "is called box/api, and the token is for box/web*"},
		"a person not let in":   {func(f *doctor.Facts) { f.Coordinator.Person = ours(c3po.Unauthorized, "was revoked") }, doctor.Yellow, "person", "was revoked"},
		"a slow hook":           {func(f *doctor.Facts) { f.Clients[0].LastHook.Took = 3 * time.Second }, doctor.Yellow, "claude hooks", "Stop of api, took 3s"},
		"hooks that do not run": {func(f *doctor.Facts) { f.Sessions[0].Hooked = false }, doctor.Yellow, "claude hooks", "none of its hooks has run"},
		"hooks taken out":       {func(f *doctor.Facts) { f.Clients[0].Missing = []string{"Stop"} }, doctor.Red, "claude", "Stop"},
		"two of one name":       {func(f *doctor.Facts) { f.Sessions = append(f.Sessions, f.Sessions[0]) }, doctor.Yellow, "session", "act as box/api"},
		"a project's URL":       {func(f *doctor.Facts) { f.Entries[0].URL = "http://nas/mcp" }, doctor.Yellow, "project", "http://nas/mcp instead of c3po mcp"},
		"a project's program":   {func(f *doctor.Facts) { f.Entries[0].Found = "/old/c3po" }, doctor.Yellow, "project", "/old/c3po"},
		"a project's nothing":   {func(f *doctor.Facts) { f.Entries[0].Found = "" }, doctor.Red, "project", "not there"},
		"a project's hub":       {func(f *doctor.Facts) { f.Entries[0].Env = "http://old:1" }, doctor.Yellow, "project", "http://old:1"},
		"a project that is off": {func(f *doctor.Facts) { f.Entries[0].Off = true }, doctor.Yellow, "project", "off in codex"},
		"a project's typo":      {func(f *doctor.Facts) { f.Entries[0].Err = errors.New("x") }, doctor.Yellow, "project", "cannot be read"},
		"a path in git":         {func(f *doctor.Facts) { f.Entries[0].Tracked = true }, doctor.Yellow, "project", "a program of this machine"},
		"a token for git":       {func(f *doctor.Facts) { f.Exposed = []doctor.Exposed{{File: ".mcp.json"}} }, doctor.Red, "project", "does not ignore it"},
		"a token in git":        {func(f *doctor.Facts) { f.Exposed = []doctor.Exposed{{File: ".mcp.json", Tracked: true}} }, doctor.Red, "project", "git has it"},
		"an error of nobody's":  {func(f *doctor.Facts) { f.Config = errors.New("odd") }, doctor.Red, "settings", "internal error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts := healthy()
			c.with(&facts)
			all := doctor.Examine(facts)
			if got := doctor.Worst(all); got != c.verdict {
				t.Errorf("the host is %s, not %s", got, c.verdict)
			}
			n := 0
			for _, f := range all {
				if f.Verdict == doctor.Green {
					continue
				}
				n++
				if f.Check != c.check || !strings.Contains(f.Says, c.says) || f.Fix == "" {
					t.Errorf("found %+v", f)
				}
			}
			if n != 1 {
				t.Errorf("%d findings for one trouble: %+v", n, all)
			}
		})
	}
}

func TestAHealthyHostIsGreen(t *testing.T) {
	t.Parallel()
	all := doctor.Examine(healthy())
	if doctor.Worst(all) != doctor.Green || len(all) < 20 {
		t.Errorf("found %+v", all)
	}
	for _, f := range all {
		if f.Fix != "" {
			t.Errorf("what is well needs no fix: %+v", f)
		}
	}
}
