package hook_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

func TestASessionIsSaidToDoOnlyWhatThereIsEvidenceFor(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	armed := hook.Switch{Armed: true}
	var new hook.Activity
	for name, c := range map[string]struct {
		is    hook.Activity
		with  hook.Switch
		at    time.Time
		want  c3po.SessionState
		alone bool // no notice may be sent
	}{
		"a session that has just begun":                      {new, armed, at(0), c3po.SessionIdle, false},
		"one that nothing can wake":                          {new, hook.Switch{}, at(0), c3po.SessionUnarmed, false},
		"a turn":                                             {new.Works(at(0)), armed, at(89), c3po.SessionWorking, true},
		"a turn without a sign for too long":                 {new.Works(at(0)), armed, at(91), c3po.SessionUnknown, false},
		"a long turn of a client that says it is busy":       {new.Says("busy", at(0)), armed, at(900), c3po.SessionWorking, true},
		"a turn that has ended":                              {new.Works(at(0)).Rests(at(5), 0), armed, at(5), c3po.SessionIdle, false},
		"turns that would not end":                           {new.Works(at(0)).Rests(at(5), 15*time.Second), armed, at(10), c3po.SessionIdle, true},
		"the same, and its client says that it is idle":      {new.Works(at(0)).Rests(at(5), 15*time.Second).Says("idle", at(6)), armed, at(10), c3po.SessionIdle, true},
		"a turn that failed":                                 {new.Works(at(0)).Fails(at(5), at(65)), armed, at(10), c3po.SessionFailed, true},
		"the same, and its client says that it is idle then": {new.Works(at(0)).Fails(at(5), at(65)).Says("idle", at(6)), armed, at(10), c3po.SessionFailed, true},
		"the same, and its mail starts another":              {new.Works(at(0)).Fails(at(5), at(65)), armed, at(65), c3po.SessionIdle, false},
		"the same, and the person has it work":               {new.Fails(at(5), at(65)).Works(at(9)), armed, at(10), c3po.SessionWorking, true},
		"the same, and that ends well":                       {new.Fails(at(5), at(65)).Works(at(9)).Rests(at(12), 0), armed, at(12), c3po.SessionIdle, false},
		"one that failed and that nothing can wake":          {new.Fails(at(5), at(65)), hook.Switch{}, at(10), c3po.SessionUnarmed, true},
		"a dialog": {new.Works(at(0)).Asks(at(1)), armed, at(30), c3po.SessionDialog, true},
		"a dialog nobody has answered for too long":       {new.Works(at(0)).Asks(at(1)), armed, at(95), c3po.SessionUnknown, false},
		"a dialog at whose terminal nobody has typed":     {new.Asks(at(100)).Typed(at(80), at(80), at(180)), armed, at(260), c3po.SessionDialog, true},
		"the same, and somebody has":                      {new.Asks(at(100)).Typed(at(110), at(80), at(110)), armed, at(111), c3po.SessionWorking, true},
		"a dialog that opened just after a key":           {new.Asks(at(100)).Typed(at(95), at(95), at(180)), armed, at(191), c3po.SessionUnknown, false},
		"a dialog that opened as its prompt was seen":     {new.Asks(at(100)).Typed(at(99), at(80), at(100)), armed, at(101), c3po.SessionDialog, true},
		"a dialog of a client that tells when it closes":  {new.Asks(at(1)).StillAsks(at(90)), armed, at(100), c3po.SessionDialog, true},
		"a dialog of a client that says so":               {new.Asks(at(1)).Says("waiting", at(1)), armed, at(900), c3po.SessionDialog, true},
		"a menu, which no hook tells of":                  {new.Says("waiting", at(3)), armed, at(900), c3po.SessionDialog, true},
		"a dialog that was answered":                      {new.Asks(at(1)).Works(at(9)), armed, at(10), c3po.SessionWorking, true},
		"a dialog that was escaped, as its client says":   {new.Asks(at(1)).Says("shell", at(4)), armed, at(5), c3po.SessionIdle, false},
		"a turn that was interrupted, as its client says": {new.Works(at(1)).Says("idle", at(4)), armed, at(5), c3po.SessionIdle, false},
		"a word of the client that is older than a hook":  {new.Works(at(4)).Says("idle", at(1)), armed, at(5), c3po.SessionWorking, true},
		"a word that nobody knows":                        {new.Works(at(0)).Says("humming", at(1)), armed, at(91), c3po.SessionUnknown, false},
		"a call of a tool that takes long":                {new.Calls(), armed, at(3000), c3po.SessionWorking, true},
		"a call that was interrupted":                     {new.Calls().Returns(at(0), true), armed, at(3), c3po.SessionUnknown, false},
		"a client that is stopped":                        {new.Stopped(true), armed, at(0), c3po.SessionUnknown, false},
		"a notice that no turn has followed yet":          {new.Noticed(at(0)), armed, at(29), c3po.SessionIdle, false},
		"a notice that no turn has followed for long":     {new.Noticed(at(0)), armed, at(30), c3po.SessionUnknown, false},
		"the same, and then a turn":                       {new.Noticed(at(0)).Works(at(40)), armed, at(41), c3po.SessionWorking, true},
		"the same, and the turn has ended":                {new.Noticed(time.Time{}).Works(at(40)).Rests(at(42), 0), armed, at(43), c3po.SessionIdle, false},
		"switched off, whatever it does":                  {new.Works(at(0)), hook.Switch{Off: true, Armed: true}, at(1), c3po.SessionOff, true},
		"run by a script":                                 {new.Works(at(0)), hook.Switch{Alone: true}, at(1), c3po.SessionUnattended, true},
	} {
		if got := c.is.State(c.with, c.at); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := c.is.Alone(c.at); got != c.alone {
			t.Errorf("%s: left alone: %v", name, got)
		}
	}
}

func TestATurnThatItsUserStoppedIsFollowedByNoOtherForAMinute(t *testing.T) {
	t.Parallel()
	armed := hook.Switch{Armed: true}
	stopped := hook.Activity{}.Begins(noon).Works(noon.Add(time.Second)).Says("idle", noon.Add(2*time.Second))
	for at, want := range map[time.Duration]c3po.SessionState{3 * time.Second: c3po.SessionStopped, 61 * time.Second: c3po.SessionStopped, 63 * time.Second: c3po.SessionIdle} {
		if now := noon.Add(at); stopped.State(armed, now) != want || stopped.Alone(now) != (want == c3po.SessionStopped) {
			t.Errorf("after %v it is %s, left alone: %v", at, stopped.State(armed, now), stopped.Alone(now))
		}
	}
	// A menu that is opened and closed meanwhile changes nothing.
	if state := stopped.Says("waiting", noon.Add(4*time.Second)).Says("idle", noon.Add(5*time.Second)).State(armed, noon.Add(6*time.Second)); state != c3po.SessionStopped {
		t.Errorf("after a menu it is %s", state)
	}
	next := stopped.Begins(noon.Add(5 * time.Second))
	if ended := next.Rests(noon.Add(6*time.Second), 0); ended.Alone(noon.Add(7 * time.Second)) {
		t.Error("it is left alone after its next turn")
	}
	if ended := next.Rests(noon.Add(6*time.Second), 0).Says("idle", noon.Add(7*time.Second)); ended.State(armed, noon.Add(8*time.Second)) != c3po.SessionIdle {
		t.Error("a turn that a hook has ended counts as stopped")
	}
}
