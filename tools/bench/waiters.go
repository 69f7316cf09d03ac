package bench

import (
	"context"
	"encoding/json"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// settleTimeout is how long it may take until all waits sleep.
	settleTimeout = 3 * time.Minute
	// restFor is how long memory is looked at after that: what the waits' arrival
	// has left is collected in time.
	restFor   = 2 * time.Second
	restEvery = 100 * time.Millisecond
)

// sleepers prepares a measurement of many waits through a door: what settles it
// returns when all of them sleep and gives the memory of one, and lets messages
// come. pid is the coordinator's, 0 if it is not ours.
func sleepers(ctx context.Context, door *web, waits, pid int) (settle func(context.Context) (map[string]int64, error), begin <-chan struct{}, err error) {
	asked, err := (&web{address: door.address, space: door.space}).open(ctx, "asker-0")
	if err != nil {
		return nil, nil, err
	}
	coordinator := asked.(*webSeat)
	before, told := residentMemory(pid)
	may := make(chan struct{})
	return func(ctx context.Context) (map[string]int64, error) {
		defer close(may)
		if err := coordinator.untilAsleep(ctx, waits); err != nil || !told {
			return nil, err
		}
		lowest, _ := residentMemory(pid)
		for range restFor / restEvery {
			if err := pass(ctx, restEvery, nil, nil); err != nil {
				return nil, err
			}
			now, _ := residentMemory(pid)
			lowest = min(lowest, now)
		}
		return map[string]int64{ProcessCoordinator: max(0, lowest-before) / int64(waits)}, nil
	}, may, nil
}

// untilAsleep returns when so many waits sleep on the coordinator, all but one
// in a hundred: of many, some always end and are made anew.
func (s *webSeat) untilAsleep(ctx context.Context, waits int) error {
	var info c3po.ServerInfo
	for deadline := time.Now().Add(settleTimeout); ; {
		answer, err := s.call(ctx, "server_info", c3po.None{})
		if err == nil {
			err = json.Unmarshal(answer, &info)
		}
		if err != nil {
			return err
		}
		if info.Waiters >= int64(waits-waits/100) {
			return nil
		}
		if time.Now().After(deadline) {
			return c3po.Errorf(c3po.Internal, "only %d of %d waits sleep after %v", info.Waiters, waits, settleTimeout).
				Suggest("Give a smaller --concurrency.")
		}
		if err := pass(ctx, pollEvery, nil, nil); err != nil {
			return err
		}
	}
}
