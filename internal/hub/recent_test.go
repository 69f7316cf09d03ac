package hub_test

import (
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestWhatAnAgentLastSaidAndHeardIsReadBack(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("api", "web", "docs")
	h.send("web", "docs", "apart")
	asked := h.send("web", "api", "which fields?")
	h.reply("api", asked.ID, "id and total")
	h.send("api", "docs", "please write it down")
	read := func(limit int) (texts []string) {
		for _, m := range must(h.asPerson().Recent(t.Context(), c3po.RecentInput{AgentID: "api", Limit: limit}))(t).Messages {
			texts = append(texts, m.Text())
		}
		return texts
	}
	same(t, "the last", read(0), []string{"which fields?", "id and total", "please write it down"})
	same(t, "two", read(2), []string{"id and total", "please write it down"})
	_, err := h.asPerson().Recent(t.Context(), c3po.RecentInput{AgentID: "api", Limit: 51})
	refused(t, err, c3po.InvalidRequest, "between 1 and 50")
}
