package faultrig

import (
	"testing"
	"time"
)

func TestAMomentIsSteadyUnlessTheMachineWasSlowThenOrShortlyBeforeOrIsSoon(t *testing.T) {
	began := time.Now()
	var p Pace
	for n := range 200 {
		took := 100 * time.Microsecond
		if n >= 40 && n < 60 { // from 200 ms to 300
			took *= 4
		}
		p.laps = append(p.laps, lap{began.Add(time.Duration(n) * lapEvery), took})
	}
	steady := p.Steady(20 * time.Millisecond)
	for after, want := range map[time.Duration]bool{
		0: true, 174 * time.Millisecond: true, 176 * time.Millisecond: false, 199 * time.Millisecond: false, 250 * time.Millisecond: false, 295 * time.Millisecond: false,
		500 * time.Millisecond: false, 600 * time.Millisecond: true, time.Hour: true,
	} {
		if got := steady(began.Add(after)); got != want {
			t.Errorf("after %v it is steady: %t, want %t", after, got, want)
		}
	}
	p.laps[0].took *= 4
	if p.Steady(20 * time.Millisecond)(began.Add(time.Millisecond)) {
		t.Error("it is steady after a first lap that was slow")
	}
	if (Pace{}).Steady(0)(began) != true {
		t.Error("a machine that nobody watched was not slow")
	}
}
