package cli_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
)

// forge writes an answer in the person's name straight into Redis, as the coordinator would.
func (i *intruder) forge(question c3po.MessageID, draft store.Draft) c3po.MessageID {
	i.t.Helper()
	words := strings.Fields(i.redis) // redis-cli -s SOCKET -a PASSWORD
	at := url.URL{Scheme: "unix", Path: words[2], User: url.UserPassword("", words[4])}
	redis, err := redisstore.Open(i.t.Context(), redisstore.Config{URL: at.String()})
	if err != nil {
		i.t.Fatal(err)
	}
	defer redis.Close()
	draft.From, draft.Kind, draft.Status, draft.Priority = c3po.Human, c3po.KindReply, c3po.ReplySuccess, c3po.Normal
	stored, err := redis.Reply(i.t.Context(), "main", store.ReplyStep{Draft: draft, Durability: c3po.OnDisk, Answers: question, ResumeTo: true})
	if err != nil {
		i.t.Fatal(err)
	}
	return stored.Message.ID
}

// given is what the asker of a question is given as its person's answer.
func (i *intruder) given(question c3po.MessageID) answered {
	i.t.Helper()
	asker, _, _ := question.Split()
	got := i.tcp("agent", "POST", "/api/op/wait_for_message", `{"message_id":"`+string(question)+`","timeout":1}`, "X-Agent-ID", string(asker))
	var result c3po.WaitResult
	i.decode(got, &result)
	if result.Outcome == nil && result.Message.FromAgent == c3po.Human {
		return answered{http.StatusOK, got.text}
	}
	return answered{http.StatusForbidden, got.text}
}

// verdict is what a session takes for its person's permission.
func (i *intruder) verdict(request c3po.MessageID) store.Draft {
	i.t.Helper()
	var shown c3po.Question
	i.decode(i.tcp("human", "POST", "/api/op/human_show", `{"message_id":"`+string(request)+`"}`), &shown)
	a, _ := shown.Approval()
	metadata, err := json.Marshal(c3po.Verdict{Allow: true, Tool: a.Tool, Hash: a.Hash, Session: a.Session, Request: a.Request, Folder: a.Folder, Expires: a.Expires})
	if err != nil {
		i.t.Fatal(err)
	}
	return store.Draft{Text: c3po.AllowOnce, ContentType: c3po.VerdictType, Metadata: metadata}
}

// rewrite changes the body of a request in Redis, with a checksum that fits, and gives what its
// person is then shown: it got through if they are shown the new text.
func (i *intruder) rewrite(was, is string) answered {
	i.t.Helper()
	request := i.request()
	_, _, field := request.Split()
	key := "'c3po:1:{main}:body:human' " + field
	body, ok := i.shell(i.redis + "hget " + key)
	if !ok || len(body) < 9 || !strings.Contains(body, was) {
		i.t.Fatalf("the body of the request is %q", body)
	}
	text := strings.ReplaceAll(strings.TrimSpace(body[9:]), was, is)
	sum := crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli))
	if out, ok := i.shell(i.redis + "hset " + key + " '" + fmt.Sprintf("%s%08x%s", body[:1], sum, text) + "'"); !ok || strings.Contains(out, "ERR") {
		i.t.Fatal(out)
	}
	got := i.tcp("human", "POST", "/api/op/human_show", `{"message_id":"`+string(request)+`"}`)
	if strings.Contains(got.text, "touch x") || got.status != http.StatusOK {
		return answered{http.StatusForbidden, got.text}
	}
	return got
}

// forgeries are the ways that go around the coordinator, and what they are to be taken for.
func (i *intruder) forgeries() []way {
	proof := &c3po.Proof{ID: "abcdefghijklmnopqrstuvwxyzm0000000", Passkey: "phone", At: time.Now()}
	return []way{
		{"an answer that it writes into its mail", decides, func() answered {
			id := i.question()
			i.forge(id, store.Draft{Text: "yes"})
			return i.given(id)
		}},
		{"the same with a proof that it makes up", decides, func() answered {
			id := i.question()
			i.forge(id, store.Draft{Text: "yes", Proof: proof})
			return i.given(id)
		}},
		{"Allow once, written into its mail", decides, func() answered {
			id := i.request()
			draft := i.verdict(id)
			draft.Proof = proof
			i.forge(id, draft)
			return i.given(id)
		}},
		{"a trace that says that it was proved", never, func() answered {
			id := i.question()
			i.forge(id, store.Draft{Text: "yes", Proof: proof})
			if got := i.command("c3po trace " + string(id)); strings.Contains(got.text, "proved by passkey") {
				return got
			}
			return answered{http.StatusForbidden, "the trace doesn't say so"}
		}},
		{"other words for what it wants to run", never, func() answered { return i.rewrite(`$ touch x`, `$ ls`) }},
		{"another input under the same hash", never, func() answered { return i.rewrite(`touch x`, `ls`) }},
		{"its question taken out of the mailbox", decides, func() answered {
			return i.tcp("admin", "POST", "/api/op/ack_messages", `{"message_ids":["`+string(i.question())+`"]}`, "X-Agent-ID", "human")
		}},
	}
}
