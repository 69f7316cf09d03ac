package faultrig_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

func TestTheTallyFindsEachKindOfViolationAndNoOther(t *testing.T) {
	t.Parallel()
	stored := func(tally *faultrig.Tally, n int, hex string) {
		tally.Stored("web", "api", n, c3po.MessageID("web::api::"+hex))
	}
	page := func(numbers ...int) []c3po.Message {
		var all []c3po.Message
		for _, n := range numbers {
			all = append(all, c3po.Message{ID: c3po.MessageID(fmt.Sprintf("web::api::%08x", n)), Message: faultrig.NumberedText("web", n)})
		}
		return all
	}
	for _, c := range []struct {
		name string
		run  func(*faultrig.Tally)
		want []string
	}{
		{"all is well", func(tally *faultrig.Tally) {
			tally.Read("api", page(0)) // before its sender hears of it
			stored(tally, 0, "00000000")
			stored(tally, 1, "00000001")
			stored(tally, 1, "00000001")
			tally.Read("api", page(0, 1))
			tally.Acked("api", page(0, 1))
		}, nil},
		{"never read", func(tally *faultrig.Tally) { stored(tally, 0, "00000000") }, []string{faultrig.Lost}},
		{"two ids, as the sender is told", func(tally *faultrig.Tally) {
			stored(tally, 0, "00000000")
			stored(tally, 0, "00000001")
			tally.Read("api", page(0))
		}, []string{faultrig.Doubled}},
		{"two ids, as the reader sees", func(tally *faultrig.Tally) {
			stored(tally, 0, "00000007")
			tally.Read("api", page(0))
		}, []string{faultrig.Doubled}},
		{"never sent", func(tally *faultrig.Tally) { tally.Read("api", page(0)) }, []string{faultrig.Invented}},
		{"no text of anybody", func(tally *faultrig.Tally) {
			tally.Read("api", []c3po.Message{{ID: "web::api::00000000", Message: "hello"}})
		}, []string{faultrig.Invented}},
		{"the text of another", func(tally *faultrig.Tally) {
			stored(tally, 0, "00000000")
			tally.Read("api", page(0))
			tally.Read("api", []c3po.Message{{ID: "cli::api::00000000", Message: faultrig.NumberedText("web", 0)}})
		}, []string{faultrig.Invented}},
		{"read by another", func(tally *faultrig.Tally) {
			stored(tally, 0, "00000000")
			tally.Read("cli", page(0))
		}, []string{faultrig.Misdelivered}},
		{"read after its ack", func(tally *faultrig.Tally) {
			stored(tally, 0, "00000000")
			tally.Read("api", page(0))
			tally.Acked("api", page(0))
			tally.Read("api", page(0))
		}, []string{faultrig.Returned}},
		{"out of order", func(tally *faultrig.Tally) {
			stored(tally, 0, "00000000")
			stored(tally, 1, "00000001")
			tally.Read("api", page(1))
			tally.Read("api", page(0))
		}, []string{faultrig.Misordered}},
	} {
		var tally faultrig.Tally
		c.run(&tally)
		var got []string
		for _, v := range tally.Report().Violations {
			got = append(got, v.Kind)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
