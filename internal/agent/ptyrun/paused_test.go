package ptyrun

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestNothingIsTypedForOthersWhileTheAgentIsPaused(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	p := w.sit("api", "--", "bash", "--norc", "--noprofile")
	p.see("$ ")
	human := w.as(c3po.Human)
	p.eventually("it can be paused", func() bool {
		_, err := human.Pause(t.Context(), c3po.PauseInput{AgentID: "api"})
		return err == nil
	})
	w.ask("web", "api", "which port?")
	if _, err := human.SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "all well?"}); err != nil {
		t.Fatal(err)
	}
	p.see("c3po: 1 new message expecting an answer from 'human'. " + noticeWords)
	if strings.Contains(p.printed(), "from web") {
		t.Error("it was told of mail of others while it was paused")
	}
	if _, err := human.Resume(t.Context(), c3po.PauseInput{AgentID: "api"}); err != nil {
		t.Fatal(err)
	}
	p.see("c3po: 1 new message expecting an answer from 'web'. " + noticeWords)
	p.press("exit\r")
	p.leave()
}
