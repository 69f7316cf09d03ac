package bench

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// warmUp is run before the clock is started: connections, caches and
	// scripts are then as they stay.
	warmUp = 200 * time.Millisecond
	// mostBytes of messages are stored in one round, whatever its time: what is
	// measured must fit into memory.
	mostBytes = 512 << 20
)

// A sample is one round of one door.
type sample struct {
	took    []time.Duration // of each operation
	elapsed time.Duration
	cpu     map[string]time.Duration // by process
}

func (s sample) rate() float64 { return float64(len(s.took)) / s.elapsed.Seconds() }

// A loop does the same again and again until ctx ends, and tells done how long
// each operation took.
type loop func(ctx context.Context, done func(time.Duration)) error

// measure runs the loops at once: first to warm up, then for the given time,
// or until there were so many operations. It returns when all have ended, for
// which it calls stop, the end of ctx and of all that was opened with it.
func measure(ctx context.Context, stop func(), loops []loop, length time.Duration, most int, processes map[string]int) (sample, error) {
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()

	var measuring atomic.Bool
	var count atomic.Int64
	enough := make(chan struct{})
	failed := make(chan error, len(loops))
	took := make([][]time.Duration, len(loops))
	for i, l := range loops {
		running.Go(func() {
			err := l(ctx, func(d time.Duration) {
				if !measuring.Load() {
					return
				}
				took[i] = append(took[i], d)
				if count.Add(1) == int64(most) {
					close(enough)
				}
			})
			if err != nil && ctx.Err() == nil {
				failed <- err
			}
		})
	}
	if err := pass(ctx, warmUp, nil, failed); err != nil {
		return sample{}, err
	}
	before, began := usage(processes), time.Now()
	measuring.Store(true)
	err := pass(ctx, length, enough, failed)
	measuring.Store(false)
	elapsed, after := time.Since(began), usage(processes)
	if err != nil {
		return sample{}, err
	}
	stop()
	running.Wait()
	s := sample{took: slices.Concat(took...), elapsed: elapsed, cpu: map[string]time.Duration{}}
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
	cpu := map[string]time.Duration{}
	for i, s := range samples {
		took = append(took, s.took...)
		f.Rates = append(f.Rates, s.rate())
		ratios = append(ratios, s.rate()/redis[i].rate())
		for process, used := range s.cpu {
			cpu[process] += used
		}
	}
	f.Operations = len(took)
	if f.Operations == 0 {
		return f
	}
	slices.Sort(took)
	f.Rate, f.OfRedis = median(f.Rates), median(ratios)
	f.P50, f.P99 = milliseconds(took[len(took)/2]), milliseconds(took[len(took)*99/100])
	for process, used := range cpu {
		f.CPU[process] = float64(used.Microseconds()) / float64(f.Operations)
	}
	return f
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
