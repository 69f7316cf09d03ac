package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func TestAUsedProofIsUsedWhateverIsWrittenToRedis(t *testing.T) {
	t.Parallel()
	p := startProving(t, c3po.ProofDecisions)
	if status, refusal := p.do(t, p.agent, "api", "ping", c3po.None{}, nil); status != http.StatusOK {
		t.Fatalf("%d %+v", status, refusal)
	}
	const path, body = "/api/op/resume", `{"agent_id":"api"}`
	request := p.ask("POST", path, body, p.person)
	p.sign(request, p.key)
	if status, text := p.send("POST", path, body, p.person, c3po.ProofHeader, request.ID); status != http.StatusOK {
		t.Fatalf("the first use: %d %s", status, text)
	}
	record, ok, err := p.store.Proof(t.Context(), request.ID)
	if err != nil || !ok {
		t.Fatalf("%v %v", ok, err)
	}
	// Whoever has Redis' password writes the same record again, unused and for another hour.
	if _, err := p.store.PutProof(t.Context(), request.ID, record.Act, time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := p.store.SignProof(t.Context(), request.ID, record.Signature); err != nil {
		t.Fatal(err)
	}
	status, text := p.send("POST", path, body, p.person, c3po.ProofHeader, request.ID)
	if status != http.StatusForbidden || !strings.Contains(text, "was used before") {
		t.Errorf("the second use: %d %s", status, text)
	}
}
