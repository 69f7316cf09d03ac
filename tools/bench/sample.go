package bench

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// warmUp is run before the clock is started: connections, caches and
	// scripts are then as they stay.
	warmUp = 200 * time.Millisecond
	// maxRoundBytes of messages are stored in one round, whatever its time: what is
	// measured must fit into memory.
	maxRoundBytes = 512 << 20
)

// A sample is one round of one door.
type sample struct {
	took    []time.Duration // of each operation
	elapsed time.Duration
	cpu     map[string]time.Duration // by process
	memory  map[string]int64         // bytes of a wait, by process
	parts   []part
}

// A part is what one of several scenarios took.
type part struct {
	scenario string
	took     []time.Duration
}

func (s sample) rate() float64 { return float64(len(s.took)) / s.elapsed.Seconds() }

// A loop does the same again and again until ctx ends, and tells done how long
// each operation took.
type loop func(ctx context.Context, done func(time.Duration)) error

// A group of loops is one scenario of those that are measured together.
type group struct {
	scenario string
	loops    []loop
}

// A measurement is a round to be made.
type measurement struct {
	groups    []group
	length    time.Duration
	most      int            // operations, which end it sooner
	processes map[string]int // whose time is told
	// settle is done after the warming up, if there is something to wait for.
	settle func(ctx context.Context) (memory map[string]int64, err error)
	// watch, if there is one, begins with the clock; what it gives is called with
	// the number of operations once the time is over.
	watch func() (end func(operations int) error, err error)
}

// measure runs all loops at once: first to warm up, then for the given time,
// or until there were so many operations. It returns when all have ended, for
// which it calls stop, the end of ctx and of all that was opened with it.
func (m measurement) measure(ctx context.Context, stop func()) (sample, error) {
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()

	var measuring atomic.Bool
	var count atomic.Int64
	enough := make(chan struct{})
	failed := make(chan error, 1)
	took := make([][][]time.Duration, len(m.groups))
	for g, group := range m.groups {
		took[g] = make([][]time.Duration, len(group.loops))
		for i, l := range group.loops {
			running.Go(func() {
				err := l(ctx, func(d time.Duration) {
					if !measuring.Load() {
						return
					}
					took[g][i] = append(took[g][i], d)
					if count.Add(1) == int64(m.most) {
						close(enough)
					}
				})
				if err != nil && ctx.Err() == nil {
					select {
					case failed <- err:
					default: // one is enough to end it
					}
				}
			})
		}
	}
	if err := pass(ctx, warmUp, nil, failed); err != nil {
		return sample{}, err
	}
	var memory map[string]int64
	if m.settle != nil {
		settled := make(chan struct{})
		var err error
		go func() {
			defer close(settled)
			memory, err = m.settle(ctx)
		}()
		select {
		case cause := <-failed:
			stop()
			<-settled
			return sample{}, cause
		case <-settled:
			if err != nil {
				return sample{}, err
			}
		}
	}
	end := func(int) error { return nil }
	if m.watch != nil {
		var err error
		if end, err = m.watch(); err != nil {
			return sample{}, err
		}
	}
	before, began := usage(m.processes), time.Now()
	measuring.Store(true)
	err := pass(ctx, m.length, enough, failed)
	measuring.Store(false)
	elapsed, after := time.Since(began), usage(m.processes)
	if err = errors.Join(err, end(int(count.Load()))); err != nil {
		return sample{}, err
	}
	stop()
	running.Wait()
	s := sample{elapsed: elapsed, cpu: map[string]time.Duration{}, memory: memory}
	for g, group := range m.groups {
		all := slices.Concat(took[g]...)
		s.took = append(s.took, all...)
		s.parts = append(s.parts, part{group.scenario, all})
	}
	for process, used := range after {
		s.cpu[process] = used - before[process]
	}
	return s, nil
}

// pass lets time go by, unless something ends it sooner.
func pass(ctx context.Context, length time.Duration, enough <-chan struct{}, failed <-chan error) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-enough:
		return nil
	case err := <-failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// usage is the processor time each process has used so far. One that cannot be
// told is left out.
func usage(processes map[string]int) map[string]time.Duration {
	used := map[string]time.Duration{}
	for name, pid := range processes {
		if d, ok := cpuTime(pid); ok {
			used[name] = d
		}
	}
	return used
}

// figures sums up the rounds of a door, beside those of Redis.
func figures(door string, samples, redis []sample) Figures {
	f := Figures{Door: door, CPU: map[string]float64{}}
	var took []time.Duration
	var ratios []float64
	cpu, memory := map[string]time.Duration{}, map[string][]float64{}
	for i, s := range samples {
		took = append(took, s.took...)
		f.Rates = append(f.Rates, s.rate())
		ratios = append(ratios, s.rate()/redis[i].rate())
		for process, used := range s.cpu {
			cpu[process] += used
		}
		for process, bytes := range s.memory {
			memory[process] = append(memory[process], float64(bytes))
		}
	}
	f.Operations = len(took)
	if f.Operations == 0 {
		return f
	}
	f.Rate, f.OfRedis = median(f.Rates), median(ratios)
	f.P50, f.P99 = percentiles(took)
	for process, used := range cpu {
		f.CPU[process] = float64(used.Microseconds()) / float64(f.Operations)
	}
	for process, bytes := range memory {
		if f.Memory == nil {
			f.Memory = map[string]float64{}
		}
		f.Memory[process] = median(bytes)
	}
	f.Parts = partsOf(samples)
	return f
}

// partsOf gives the figures of each scenario, if there were several at once.
func partsOf(samples []sample) []Part {
	if len(samples[0].parts) < 2 {
		return nil
	}
	var parts []Part
	for i, one := range samples[0].parts {
		var took []time.Duration
		var elapsed time.Duration
		for _, s := range samples {
			took = append(took, s.parts[i].took...)
			elapsed += s.elapsed
		}
		p := Part{Scenario: one.scenario, Operations: len(took), Rate: float64(len(took)) / elapsed.Seconds()}
		if len(took) > 0 {
			p.P50, p.P99 = percentiles(took)
		}
		parts = append(parts, p)
	}
	return parts
}

// percentiles sorts what operations took and gives the 50th and the 99th, in
// milliseconds.
func percentiles(took []time.Duration) (p50, p99 float64) {
	slices.Sort(took)
	return milliseconds(took[len(took)/2]), milliseconds(took[len(took)*99/100])
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
