package auth_test

import (
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// processes are what the kernel of the machine "box" says: for each process, the runs of it and
// of those that started it, the nearest first. Process 3 is the person's shell.
var processes = map[int][]string{
	9:  {"box:9:90", "box:7:70", "box:3:30", "box:2:20"},
	10: {"box:10:90", "box:9:90", "box:7:70", "box:3:30", "box:2:20"},
	66: {"box:66:90", "box:2:20"}, // below more processes than are looked at
}

func newMachine(t *testing.T) *rig {
	t.Helper()
	return newRig(t, auth.Config{
		Host:     "box",
		Lineage:  func(pid int) ([]string, bool) { return processes[pid], pid != 66 },
		Personal: func(pid int) bool { return pid == 3 },
	})
}

func TestAProcessIsHeldToWhatTheKernelSaysOfIt(t *testing.T) {
	t.Parallel()
	const none, agent, person = "none", "agent", "person"
	for name, test := range map[string]struct {
		pid     int
		start   int64
		token   string // over the socket, unless that is another machine's
		tcp     bool
		headers string // agent, run, client, ancestors
		noted   string // runs that are known as agents'
		says    string // of the refusal
		notes   string // runs that are agents' after it
		wants   string // confined or not
	}{
		"a process for itself":              {pid: 9, start: 90, headers: "api box:9:90", notes: "box:9:90", wants: "free"},
		"a process for its parent":          {pid: 9, start: 90, headers: "api box:7:70", notes: "box:7:70", wants: "free"},
		"a process of another machine":      {pid: 9, start: 90, headers: "api nas:7:70", notes: "nas:7:70", wants: "free"},
		"a session that is no process":      {pid: 9, start: 90, headers: "api word", wants: "free"},
		"another process of this machine":   {pid: 9, start: 90, headers: "api box:5:50", says: "has not started this one"},
		"a person's shell":                  {pid: 9, start: 90, headers: "api box:3:30", says: "a person types into it"},
		"what is above a person's shell":    {pid: 9, start: 90, headers: "api box:2:20", says: "a person types into it"},
		"what is above an agent":            {pid: 10, start: 90, headers: "api box:7:70", noted: "box:9:90", says: "an agent stands between"},
		"an agent's own program":            {pid: 10, start: 90, headers: "api box:9:90", noted: "box:9:90", wants: "free"},
		"an agent's program for another":    {pid: 10, start: 90, headers: "web word", noted: "box:9:90", wants: "confined"},
		"a program that names no agent":     {pid: 10, start: 90, headers: "- word", noted: "box:9:90", wants: "free"},
		"a process that has ended":          {pid: 9, start: 0, headers: "api word", says: "has ended"},
		"a process whose number went on":    {pid: 9, start: 91, headers: "api word", says: "has ended"},
		"a process that nobody knows":       {pid: 8, start: 90, headers: "api word", says: "has ended"},
		"a process too deep":                {pid: 66, start: 90, headers: "api word", says: "stands below too many"},
		"a process of a container":          {pid: 0, headers: "api word", wants: "free"},
		"a person at a shell":               {pid: 9, start: 90, token: person, wants: "free"},
		"a person below an agent":           {pid: 10, start: 90, token: person, noted: "box:7:70", says: "was started by an agent (process box:7:70)"},
		"a person nobody can see":           {pid: 66, start: 90, token: person, says: "stands below too many"},
		"an agent's token of elsewhere":     {pid: 66, start: 90, token: agent, headers: "api word", wants: "free"},
		"the same for a process":            {pid: 66, start: 90, token: agent, headers: "api box:9:90", says: "stands below too many"},
		"a person who says where they are":  {tcp: true, token: person, headers: "- - - box:9:90,box:7:70", noted: "box:7:70", says: "was started by an agent"},
		"a person elsewhere":                {tcp: true, token: person, headers: "- - - box:9:90", noted: "box:7:70", wants: "free"},
		"an agent elsewhere":                {tcp: true, token: agent, headers: "api box:7:70", notes: "box:7:70", wants: "free"},
		"the local token over the network":  {tcp: true, token: none, headers: "api box:7:70", says: "nothing proves here"},
		"the same for another machine":      {tcp: true, token: none, headers: "api nas:7:70", notes: "nas:7:70", wants: "confined"},
		"the same without a process":        {tcp: true, token: none, headers: "api word", wants: "confined"},
		"the session process beside codex":  {pid: 10, start: 90, headers: "api box:9:90 codex", notes: "box:9:90 box:7:70", wants: "free"},
		"the session process beside others": {pid: 10, start: 90, headers: "api box:9:90 gemini", notes: "box:9:90", wants: "free"},
		"codex below a person's shell":      {pid: 9, start: 90, headers: "api box:7:70 codex", notes: "box:7:70", wants: "free"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newMachine(t)
			for run := range strings.FieldsSeq(test.noted) {
				if err := r.store.NoteRun(t.Context(), run); err != nil {
					t.Fatal(err)
				}
			}
			var headers []string
			for i, value := range strings.Fields(test.headers) {
				if value != "-" {
					headers = append(headers, []string{"X-Agent-ID", "X-C3PO-Run", "X-C3PO-Client", "X-C3PO-Ancestors"}[i], map[bool]string{true: "c3po/dev "}[i == 2]+value)
				}
			}
			q := request(headers...)
			grants := map[string]auth.Grant{
				agent: {Role: c3po.RoleAgent, Pattern: "*"}, person: {Role: c3po.RoleHuman}, none: {Role: c3po.RoleAgent, Pattern: "*", Local: true},
			}
			if g, ok := grants[test.token]; ok {
				q = bearing(r.mint(g), headers...)
			}
			if !test.tcp {
				q = overSocket(q, test.pid, test.start)
			}
			for range 2 { // the second time from memory
				caller, err := ask(r.Keeper, q)
				if (err != nil) != (test.says != "") || err != nil && (!errors.Is(err, c3po.Forbidden) || !strings.Contains(err.Error(), test.says)) {
					t.Fatalf("it is answered %v, want %q", err, test.says)
				}
				if err == nil && caller.Confined != (test.wants == "confined") {
					t.Errorf("it is confined: %v", caller.Confined)
				}
				if caller.Confined && !test.tcp && !slices.Equal(caller.Lineage, processes[test.pid]) {
					t.Errorf("it stands below %v", caller.Lineage)
				}
			}
			for _, run := range []string{"box:9:90", "box:7:70", "box:3:30", "nas:7:70"} {
				known, err := r.store.AgentRun(t.Context(), []string{run})
				if want := strings.Contains(test.notes+" "+test.noted, run); err != nil || (known != "") != want {
					t.Errorf("%s is an agent's: %q, want %v, %v", run, known, want, err)
				}
			}
		})
	}
}

func TestACallersRunIsNotedAgainWhenTheStoreFailed(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	store := &stubborn{Store: r.store}
	r.cfg.Store = store
	r.Keeper = r.another()
	token := r.mint(auth.Grant{Role: c3po.RoleAgent, Pattern: "*", LastUsed: time.Now()})
	for _, fails := range []bool{true, false} {
		store.fail.Store(fails)
		if _, err := ask(r.Keeper, bearing(token, "X-Agent-ID", "api", "X-C3PO-Run", "box:7:70")); err != nil {
			t.Errorf("while the store fails: %v, it is answered %v", fails, err)
		}
		if run, err := r.store.AgentRun(t.Context(), []string{"box:7:70"}); err != nil || (run == "") != fails {
			t.Errorf("while the store fails: %v, the run is known as %q, %v", fails, run, err)
		}
	}
}

// Over the socket of its own user no token is needed to be an agent, and over nothing else.
func TestASocketSaysWhichProcessCalls(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper(t)
	listeners := map[string]net.Listener{}
	for network, address := range map[string]string{"unix": filepath.Join(t.TempDir(), "s"), "tcp": "127.0.0.1:0"} {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		listeners[network] = l
	}
	for network, l := range listeners {
		conn, err := net.Dial(network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer accepted.Close()
		var looked int
		ctx := auth.WithPeer(func(pid int) int64 { looked = pid; return 5 })(t.Context(), accepted)
		caller, err := ask(k, request("X-Agent-ID", "api").WithContext(ctx))
		if network == "tcp" || !auth.KnowsPeers {
			if !errors.Is(err, c3po.Unauthorized) || looked != 0 {
				t.Errorf("over %s it is answered %v, process %d", network, err, looked)
			}
			continue
		}
		if err != nil || caller.Role != c3po.RoleAgent || caller.ID != "api" || caller.PID == 0 || caller.PID != looked || auth.PeerPID(accepted) != looked {
			t.Errorf("over %s it is %+v of process %d, %v", network, caller, looked, err)
		}
	}
	if pid := auth.PeerPID(&net.TCPConn{}); pid != 0 {
		t.Errorf("a connection that is none has the process %d", pid)
	}
}

// What a person's file holds is good only where it is known which process shows it.
func TestATokenOfThePersonsFileWorksOnTheSocketAlone(t *testing.T) {
	t.Parallel()
	r := newMachine(t)
	for _, role := range []c3po.Role{c3po.RoleAgent, c3po.RoleObserver, c3po.RoleHuman, c3po.RoleAdmin} {
		token := r.mint(auth.Grant{Role: role, Pattern: map[bool]string{true: "*"}[role == c3po.RoleAgent], Local: true})
		for where, test := range map[string]struct {
			q     *http.Request
			known bool
		}{
			"the network":               {bearing(token), false},
			"a process of a container":  {overSocket(bearing(token), 0, 0), false},
			"a process of this machine": {overSocket(bearing(token), 9, 90), true},
		} {
			_, err := ask(r.Keeper, test.q)
			if want := test.known || role == c3po.RoleAgent || role == c3po.RoleObserver; (err == nil) != want || !want && !strings.Contains(err.Error(), "the coordinator's socket") {
				t.Errorf("%s from %s: %v", role, where, err)
			}
		}
		elsewhere := auth.New(auth.Config{Store: r.store}) // on a system that knows no processes
		if _, err := ask(elsewhere, overSocket(bearing(token), 0, 0)); err != nil {
			t.Errorf("%s on another system: %v", role, err)
		}
	}
}
