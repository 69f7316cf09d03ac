package top_test

import (
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestAPersonReadsAndWritesFromTheScreen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.play()
	must(s.as("web").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "build"}))(s)
	must(s.as("web").RoomPost(t.Context(), c3po.RoomPostInput{Room: "build", Message: "The build is green.\n\x1b[31mred\x1b[0m it was before."}))(s)
	term := s.open(80, 24)
	term.see("Who waits")

	term.press("2")
	term.press("Down")
	term.press("Enter")
	term.see("please look at the diff")
	term.golden("ticket-80x24")
	term.press("Escape")
	term.see("── Flow")
	term.press("/")
	term.press("-l", "reviewer")
	term.golden("filter-80x24")
	term.press("Enter")
	term.press("3")
	term.press("w")
	term.press("-l", "How far are you?")
	term.golden("write-80x24")
	term.press("Enter")
	term.see("Sent to reviewer.")
	mail := must(s.as("reviewer").Peek(t.Context(), c3po.GetMessagesInput{}))(s).Messages
	if last := mail[len(mail)-1]; last.FromAgent != c3po.Human || last.Text() != "How far are you?" {
		t.Errorf("the agent got %+v", last)
	}
	term.press("Escape")
	term.see("tester")

	term.press("5")
	term.see("build")
	term.golden("rooms-80x24")
	term.press("Enter")
	term.see("The build is green.")
	term.golden("room-80x24")
	term.press("Escape")
	term.see("MADE BY")
	term.press("6")
	term.see("no dead letters")
	s.c3po("sweep", "--older", "0s", "--yes")
	term.see("recipient_removed")
	term.press("Enter")
	term.see("which port is in the guide?")
	term.golden("letter-80x24")
}

func TestAPersonSeesWhoEditsWhichFileAndEndsItsLease(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.play()
	take := func(id c3po.AgentID, path, task string) c3po.LeaseTaken {
		return must(s.as(id).LeaseTake(t.Context(), c3po.LeaseTakeInput{Repository: "app-5f0c", Branch: "main", Tree: string(id), Paths: []string{path}, Task: task}))(s)
	}
	take("api", "src/\x1b[31mapi.go", "the parser")
	take("web", "web/main.ts", "")
	term := s.open(80, 24)
	term.see("Who waits")
	term.press("7")
	term.see("web/main.ts")
	term.golden("files-80x24")
	term.press("Down")
	term.press("Enter")
	term.see("the parser")
	term.golden("file-80x24")
	term.press("Escape")
	term.see("web/main.ts")
	term.press("x")
	term.see("End the lease of")
	term.press("Y")
	term.see("is free.")
	left := must(s.as("").LeaseList(t.Context(), c3po.LeaseListInput{}))(s).Leases
	if len(left) != 1 || left[0].Path != "web/main.ts" {
		t.Errorf("left: %+v", left)
	}
	if taken := take("web", "src/\x1b[31mapi.go", ""); taken.Held != nil {
		t.Errorf("the file is still held: %+v", taken.Held)
	}
}
