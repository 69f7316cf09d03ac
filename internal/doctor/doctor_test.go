package doctor_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/doctor"
)

// healthy is a host where nothing is to be mended.
func healthy() doctor.Facts {
	return doctor.Facts{
		Version: "1.2", Program: "/bin/c3po", OnPath: "/bin/c3po",
		Files:   []doctor.File{{Name: "/home/u/.config/c3po/credentials.json"}},
		Clients: []doctor.Client{{Name: "claude", Installed: true, Binary: "/bin/c3po", Fix: "c3po install claude"}},
		Coordinator: doctor.Coordinator{
			URL: "http://localhost:8420", Round: time.Millisecond,
			Info: &c3po.ServerInfo{
				Version: "1.2", Space: "main", Durability: c3po.OnDisk,
				Engine: &c3po.Engine{Version: "7.0.15", Eviction: "noeviction", MemoryUsed: 1 << 20},
			},
			Audit: &c3po.Audit{Balanced: true, Epoch: 1},
		},
	}
}

// Claims: C9
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
		"no plugin":          {func(f *doctor.Facts) { f.Clients[0].Installed = false }, doctor.Yellow, "claude", "not installed"},
		"plugin off":         {func(f *doctor.Facts) { f.Clients[0].Off = true }, doctor.Yellow, "claude", "switched off"},
		"old plugin":         {func(f *doctor.Facts) { f.Clients[0].Stale = []string{"hooks.json"} }, doctor.Yellow, "claude", "hooks.json"},
		"hooks of nothing":   {func(f *doctor.Facts) { f.Clients[0].Binary = "" }, doctor.Red, "claude", "not there"},
		"a client that dies": {func(f *doctor.Facts) { f.Clients[0].Err = ours(c3po.Internal, "claude plugin list") }, doctor.Red, "claude", "claude plugin list"},
		"a session cut off":  {func(f *doctor.Facts) { f.Sessions = []string{"api: away"} }, doctor.Yellow, "session", "api: away"},
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
		"little memory":          {func(f *doctor.Facts) { f.Coordinator.Info.Engine.MemoryMost = 1 << 20 }, doctor.Yellow, "redis memory", "1 of 1 MiB"},
		"missing mail":           {func(f *doctor.Facts) { f.Coordinator.Audit.Balanced = false }, doctor.Red, "books", "missing"},
		"a store that went back": {func(f *doctor.Facts) { f.Coordinator.Audit.Epoch = 2 }, doctor.Yellow, "books", "epoch 2"},
		"dead letters":           {func(f *doctor.Facts) { f.Coordinator.Audit.Dead = 3 }, doctor.Yellow, "books", "3 ended unread"},
		"an error of nobody's":   {func(f *doctor.Facts) { f.Config = errors.New("odd") }, doctor.Red, "settings", "internal error"},
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
	if doctor.Worst(all) != doctor.Green || len(all) < 12 {
		t.Errorf("found %+v", all)
	}
	for _, f := range all {
		if f.Fix != "" {
			t.Errorf("what is well needs no fix: %+v", f)
		}
	}
}
