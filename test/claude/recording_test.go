package claude_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/screencast"
)

const (
	recordedQuestion = "Which port does the gateway use?"
	recordedAnswer   = "8443, see deploy/gateway.yaml"
)

var recordedSize = [2]int{84, 17}

// saying is a step with a word before it.
func saying(text string, do step) step {
	do.Text = text
	return do
}

// The picture of the README is this: two sessions in two folders, one prompt, and the
// other agent wakes, looks into its own project and answers. make -C test recording puts it
// where the README shows it; without C3PO_RECORDING it is drawn, judged and thrown away.
func TestTheRecordingShowsTwoSessionsThatSpeak(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	h := w.host("laptop")
	gateway := h.agent("api", following(
		rule{"port: 8443", func(r request, _ []string) step {
			return saying("I reply: "+recordedAnswer, call("reply", map[string]any{"message_id": toAnswer.FindStringSubmatch(r.All())[1], "response": recordedAnswer}))
		}},
		rule{toAnswer.String(), func(r request, _ []string) step {
			file := filepath.Join(h.dir, "api", "deploy", "gateway.yaml")
			return saying("web asks: "+written(r.Fresh()), step{Tool: "Read", Input: map[string]any{"file_path": file}})
		}},
		on(".", say("Done.")),
	))
	run(t, "sh", "-ec", `mkdir -p "$1/deploy"; printf 'gateway:\n  port: 8443\n' >"$1/deploy/gateway.yaml"`, "sh", gateway.folder)
	asker := h.agent("web", following(
		on("Ask the other agent", call("list_agents", nil)),
		rule{`\| api: `, func(request, []string) step {
			return saying("I'll ask api.", call("send_message", map[string]any{"target": "api", "message": recordedQuestion, "wait_seconds": 60}))
		}},
		rule{"8443", func(request, []string) step {
			return say("The api agent says: port 8443, set in its deploy/gateway.yaml.")
		}},
	))
	asker.size, gateway.size = recordedSize, recordedSize
	below := gateway.open()
	below.idle()
	above := asker.open()
	above.idle()
	w.awaitOnline("web")

	film := newFilm(above, below)
	film.shoot(time.Second)
	for _, word := range strings.SplitAfter("Ask the other agent which port its gateway uses", " ") {
		above.tmux("send-keys", "-l", word)
		above.see(strings.TrimSpace(word))
		film.shoot(160 * time.Millisecond)
	}
	above.tmux("send-keys", "Enter")
	eventually(t, time.Minute, "the answer is on the screen", func() bool {
		film.look()
		return strings.Contains(above.screen(), "The api agent says") && strings.Contains(above.screen(), " done ") && strings.Contains(below.screen(), " done ")
	})
	film.shoot(5 * time.Second)

	for i := range film.frames {
		for n, screen := range film.frames[i].Screens { // signs that few fonts have
			film.frames[i].Screens[n] = strings.NewReplacer(h.dir, "~", "⏸", "‖", "⎿", "└").Replace(screen)
		}
	}
	panes := []screencast.Pane{{Title: "Claude Code in ~/web", Columns: recordedSize[0], Rows: recordedSize[1]}, {Title: "Claude Code in ~/api", Columns: recordedSize[0], Rows: recordedSize[1]}}
	var svg bytes.Buffer
	if err := screencast.Write(&svg, panes, film.frames); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d frames, %d bytes", len(film.frames), svg.Len())
	var err error
	for reader := xml.NewDecoder(bytes.NewReader(svg.Bytes())); err == nil; _, err = reader.Token() {
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("it is not well-formed: %v", err)
	}
	for _, said := range []string{recordedQuestion, recordedAnswer} {
		if !strings.Contains(svg.String(), said) {
			t.Errorf("nobody sees %q in it", said)
		}
	}
	if name := os.Getenv("C3PO_RECORDING"); name != "" {
		if err := os.WriteFile(name, svg.Bytes(), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// A film is what terminals showed, one frame for each change.
type film struct {
	terminals []*terminal
	frames    []screencast.Frame
	last      time.Time
}

func newFilm(terminals ...*terminal) *film { return &film{terminals: terminals, last: time.Now()} }

// shoot adds what is on the screens, to be shown for that long.
func (f *film) shoot(long time.Duration) {
	screens := make([]string, len(f.terminals))
	for i, term := range f.terminals {
		screens[i] = term.tmux("capture-pane", "-e", "-p")
	}
	f.frames = append(f.frames, screencast.Frame{Screens: screens, For: long})
	f.last = time.Now()
}

// look adds what is on the screens if it has changed. What was there before stays for as
// long as it really did, but neither too short to be read nor so long that it bores.
func (f *film) look() {
	if time.Since(f.last) < 150*time.Millisecond {
		return
	}
	before, stayed := f.frames[len(f.frames)-1], time.Since(f.last)
	at := f.last
	f.shoot(300 * time.Millisecond)
	now := f.frames[len(f.frames)-1]
	if same(before.Screens, now.Screens) {
		f.frames, f.last = f.frames[:len(f.frames)-1], at
		return
	}
	if before := &f.frames[len(f.frames)-2]; before.For <= 300*time.Millisecond {
		before.For = min(max(stayed, 300*time.Millisecond), 1200*time.Millisecond)
	}
}

func same(one, other []string) bool {
	for i := range one {
		if one[i] != other[i] {
			return false
		}
	}
	return true
}
