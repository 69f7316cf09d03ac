package faultrig_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Each folder in here is what one version of c3po has left in Redis: data.tar.gz are
// the files of the server, shown.json is what that version showed of them. They are
// never changed. `make -C test record` adds one before a release.
const recorded = "testdata/recorded"

// A recording is shown.json.
type recording struct {
	Made  time.Time      `json:"made"`  // by the clock of Redis
	Whole bool           `json:"whole"` // with files and leases, which the first had not
	Shown map[string]any `json:"shown"`
}

// rounds is how often a recording tells the story.
const rounds = 3

const log = "one line\nand another\n"

// more is what a story has not: files, leases, queues and a question to the person.
func (s *story) more(ctx context.Context) error {
	ana, bob := client.New(client.Config{URL: s.url, AgentID: "ana"}), client.New(client.Config{URL: s.url, AgentID: "bob"})
	s.try(func() error {
		file, err := ana.Upload(ctx, "build.log", "text/plain", strings.NewReader(log))
		if err == nil {
			_, err = ana.SendMessage(ctx, c3po.SendInput{Target: "bob", Message: "see the log", Attach: []c3po.FileID{file.ID}, ClientKey: "file"})
		}
		return err
	})
	s.try(func() error {
		_, err := ana.LeaseTake(ctx, c3po.LeaseTakeInput{Repository: "0123456789abcdef", Branch: "main", Tree: "tree", Paths: []string{"main.go", "go.mod"}})
		return err
	})
	s.try(func() error {
		_, err := bob.RegisterAgent(ctx, c3po.RegisterInput{Capabilities: []string{"dig"}})
		return err
	})
	for n := range 3 {
		s.try(func() error {
			_, err := ana.SendMessage(ctx, c3po.SendInput{Target: "role:dig", Message: fmt.Sprint("hole ", n), ClientKey: fmt.Sprint("hole-", n)})
			return err
		})
	}
	s.try(func() error {
		list, err := bob.Peek(ctx, c3po.GetMessagesInput{})
		for _, m := range list.Messages {
			if err == nil && m.Text() == "hole 0" {
				_, err = bob.Claim(ctx, c3po.MessageInput{MessageID: m.ID})
			}
		}
		return err
	})
	s.try(func() error {
		cyd := client.New(client.Config{URL: s.url, AgentID: "cyd"})
		_, err := cyd.EscalateToHuman(ctx, c3po.EscalateInput{Reason: "which of the two?", Choices: []string{"this", "that"}, ClientKey: "person"})
		return err
	})
	return s.err
}

// shows is what a coordinator answers to whoever only looks.
func shows(t *testing.T, url string, whole bool) map[string]any {
	t.Helper()
	ctx, all := t.Context(), map[string]any{}
	add := func(name string, answer any, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		var plain any
		if err := json.Unmarshal(text, &plain); err != nil {
			t.Fatal(err)
		}
		all[name] = lasting(plain)
	}
	for _, id := range cast() {
		svc := client.New(client.Config{URL: url, AgentID: id})
		mail, err := svc.Peek(ctx, c3po.GetMessagesInput{Limit: 50})
		add("mail of "+string(id), mail, err)
		tickets, err := svc.Tickets(ctx, c3po.TicketsInput{Limit: 50})
		add("tickets of "+string(id), tickets, err)
	}
	dan := client.New(client.Config{URL: url, AgentID: "dan"})
	posts, err := dan.RoomHistory(ctx, c3po.RoomHistoryInput{Room: "hall"})
	add("posts", posts, err)
	books, err := dan.Fsck(ctx, c3po.None{})
	add("books", books, err)
	if whole {
		leases, err := dan.LeaseList(ctx, c3po.LeaseListInput{})
		add("leases", leases, err)
	}
	return all
}

// lasting is an answer without what depends on when it is asked. In which order tickets
// are listed is no promise between versions.
func lasting(answer any) any {
	switch is := answer.(type) {
	case []any:
		for i := range is {
			is[i] = lasting(is[i])
		}
	case map[string]any:
		for name, value := range is {
			switch name {
			case "redelivered", "deliveries": // noted a moment later, and the coordinator was killed
				delete(is, name)
			case "tickets":
				slices.SortFunc(value.([]any), func(a, b any) int {
					return strings.Compare(a.(map[string]any)["id"].(string), b.(map[string]any)["id"].(string))
				})
				fallthrough
			default:
				is[name] = lasting(value)
			}
		}
	}
	return answer
}

// lacks says what of an earlier answer is not in a later one, which may have more fields.
func lacks(earlier, later any, at string) (missing []string) {
	switch was := earlier.(type) {
	case map[string]any:
		is, _ := later.(map[string]any)
		for name, value := range was {
			missing = append(missing, lacks(value, is[name], at+"."+name)...)
		}
	case []any:
		is, _ := later.([]any)
		if len(is) != len(was) {
			return []string{fmt.Sprintf("%s has %d, had %d", at, len(is), len(was))}
		}
		for i := range was {
			missing = append(missing, lacks(was[i], is[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
	default:
		if !reflect.DeepEqual(earlier, later) {
			missing = append(missing, fmt.Sprintf("%s is %v, was %v", at, later, earlier))
		}
	}
	return missing
}

func TestWhatAnyVersionHasStoredIsShownAndGoesOnInThisOneAndInThePrevious(t *testing.T) {
	t.Parallel()
	if name := os.Getenv("C3PO_RECORD"); name != "" {
		record(t, name)
	}
	folders, err := filepath.Glob(filepath.Join(root(t), recorded, "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("nothing is recorded in %s (%v)", recorded, err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			opens(t, folder)
		})
	}
}

func opens(t *testing.T, folder string) {
	text, err := os.ReadFile(filepath.Join(folder, "shown.json"))
	if err != nil {
		t.Fatal(err)
	}
	var was recording
	if err := json.Unmarshal(text, &was); err != nil {
		t.Fatal(err)
	}
	redis := faultrig.NewClocked(t)
	redis.Kill()
	tar(t, "-xzf", filepath.Join(folder, "data.tar.gz"), "-C", redis.Dir())
	redis.Clock.Move(time.Until(was.Made.Add(time.Second))) // mail has an end
	redis.Restart()

	coordinator := faultrig.Start(t, redis.URL())
	for _, missing := range lacks(any(was.Shown), any(shows(t, coordinator.URL(), was.Whole)), "it") {
		t.Error(missing)
	}
	// What is repeated under its key is the first message, whichever version took that.
	before := balanced(t, agent(t, coordinator.URL(), "auditor"))
	if err := newStory(t, redis.URL()).tell(t.Context(), rounds); err != nil {
		t.Errorf("the recorded story cannot be told again: %v", err)
	}
	if diff := cmp.Diff(counts(before), counts(balanced(t, agent(t, coordinator.URL(), "auditor")))); diff != "" {
		t.Errorf("the books after all was repeated (-recorded +repeated):\n%s", diff)
	}
	// One step back and forward again: each reads what the other has written.
	goesOn(t, coordinator.URL(), "this")
	coordinator.Replace(faultrig.Previous(t))
	goesOn(t, coordinator.URL(), "the previous")
	coordinator.Replace(faultrig.Binary(t))
	goesOn(t, coordinator.URL(), "this again")
	if was.Whole {
		hasTheFile(t, coordinator.URL())
	}
	balanced(t, agent(t, coordinator.URL(), "auditor"))
}

// goesOn answers a question that was open, has that read, and asks a new one for the next version.
func goesOn(t *testing.T, url, version string) {
	t.Helper()
	ctx := t.Context()
	bob := client.New(client.Config{URL: url, AgentID: "bob"})
	mail, err := bob.GetMessages(ctx, c3po.GetMessagesInput{Limit: 50})
	if err != nil {
		t.Fatalf("%s: %v", version, err)
	}
	for _, m := range mail.Messages {
		if !m.ExpectsReply || len(m.Attachments) > 0 {
			continue
		}
		asker := client.New(client.Config{URL: url, AgentID: m.FromAgent})
		answer, err := bob.Reply(ctx, c3po.ReplyInput{MessageID: m.ID, Response: "answered by " + version})
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		if _, err := asker.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{answer.ID}}); err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		if _, err := asker.SendMessage(ctx, c3po.SendInput{Target: "bob", Message: "and after " + version + "?"}); err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		return
	}
	t.Fatalf("%s: among %d messages no question is open", version, len(mail.Messages))
}

func hasTheFile(t *testing.T, url string) {
	t.Helper()
	bob := client.New(client.Config{URL: url, AgentID: "bob"})
	mail, err := bob.Peek(t.Context(), c3po.GetMessagesInput{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mail.Messages {
		if len(m.Attachments) == 0 {
			continue
		}
		var got bytes.Buffer
		if err := bob.Download(t.Context(), m.ID, m.Attachments[0], &got); err != nil || got.String() != log {
			t.Errorf("the file is %q (%v)", got.String(), err)
		}
		return
	}
	t.Error("no message has a file")
}

// record writes down what this version leaves.
func record(t *testing.T, name string) {
	t.Helper()
	folder := filepath.Join(root(t), recorded, name)
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o755); err != nil { // never over an earlier one
		t.Fatal(err)
	}
	redis := redistest.New(t, "--appendfsync", "always")
	coordinator := faultrig.Start(t, redis.URL())
	s := newStory(t, redis.URL())
	s.url = coordinator.URL()
	err := s.tell(t.Context(), rounds)
	if err == nil {
		err = s.more(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(recording{Made: faultrig.RedisTime(t, redis.Addr()).UTC(), Whole: true, Shown: shows(t, coordinator.URL(), true)}, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "shown.json"), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	coordinator.Kill() // what is there then must do
	redis.Kill()
	tar(t, "-czf", filepath.Join(folder, "data.tar.gz"), "-C", redis.Dir(), "appendonlydir")
}

func tar(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("tar", args...).CombinedOutput(); err != nil {
		t.Fatalf("tar %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// root is the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	at, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return at
}
