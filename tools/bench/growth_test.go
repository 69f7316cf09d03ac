package bench

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// reportFolder names the folder that the curves are written to.
const reportFolder = "C3PO_REPORT"

// A price is what one message costs.
type price struct {
	coordinator, redis float64 // processor time, µs
	calls              float64 // scripts that Redis ran for it: its round trips
	in, out, log       float64 // bytes to Redis, from it, and into its log
}

// A curve is the price of a message as one thing grows.
type curve struct {
	name, axis string
	places     []int
	// prepare makes the thing as large as it should be, and gives what is done
	// then, n times. It may be called for places in their order only.
	prepare func(t *testing.T, place int) (do func(n int))
	n       int
	// flat is what the price may grow by over the whole curve; 0 if it may grow.
	flat float64
}

// growing is a coordinator, its Redis, and what is sent through them.
type growing struct{ *sending }

// stand is what all counters say.
func (g growing) stand(t *testing.T) map[string]float64 {
	t.Helper()
	said := map[string]float64{}
	for process, pid := range map[string]int{ProcessCoordinator: g.coordinator.PID(), ProcessRedis: g.redis.PID()} {
		used, _ := cpuTime(pid)
		said[process] = float64(used.Microseconds())
	}
	text, err := redistest.Do(g.redis.Addr(), "INFO", "everything")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.(string)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if calls, counted := strings.CutPrefix(value, "calls="); counted && strings.HasPrefix(name, "cmdstat_eval") {
			value, _, _ = strings.Cut(calls, ",")
			name = "calls"
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			said[name] += n
		}
	}
	return said
}

// price measures what do costs each time.
func (g growing) price(t *testing.T, n int, do func(n int)) price {
	t.Helper()
	before := g.stand(t)
	do(n)
	after := g.stand(t)
	each := func(name string) float64 { return (after[name] - before[name]) / float64(n) }
	return price{
		coordinator: each(ProcessCoordinator), redis: each(ProcessRedis), calls: each("calls"),
		in: each("total_net_input_bytes"), out: each("total_net_output_bytes"), log: each("aof_current_size"),
	}
}

// workers do n things over as many connections.
func (g growing) workers(t *testing.T, space func(k int) c3po.Space, do func(s *webSeat, k int) error) func(n int) {
	t.Helper()
	const workers = 16
	seats := make([]*webSeat, workers)
	address := strings.TrimPrefix(g.coordinator.URL(), "http://")
	for i, id := range names("asker", workers) {
		opened, err := (&web{address: address, space: space(i)}).open(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		seats[i] = opened.(*webSeat)
	}
	return func(n int) {
		t.Helper()
		err := inParallel(workers, workers, func(i int) error {
			for k := i; k < n; k += workers {
				seats[i].door = &web{address: address, space: space(k)}
				if err := do(seats[i], k); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func always(space c3po.Space) func(int) c3po.Space { return func(int) c3po.Space { return space } }

// sends is the commonest thing to do: a message into one of some inboxes.
func (g growing) sends(t *testing.T, space c3po.Space, inboxes []c3po.AgentID, size int) func(n int) {
	t.Helper()
	text := strings.Repeat("x", size)
	return g.workers(t, always(space), func(s *webSeat, k int) error {
		_, err := s.send(t.Context(), inboxes[k%len(inboxes)], text)
		return err
	})
}

func curves(g growing) []curve {
	inboxes := names("helper", 50)
	var registered, slept, joined, filled int
	return []curve{
		{
			name: "agents", axis: "agents registered in the space", places: tens(10, faultrig.Size(1_000, 100_000)), n: faultrig.Size(200, 1_500), flat: 1.3,
			prepare: func(t *testing.T, place int) func(int) {
				g.register(t, "agents", inboxes)
				g.register(t, "agents", names("bystander", place)[registered:])
				registered = place
				return g.sends(t, "agents", inboxes, 1024)
			},
		},
		{
			name: "spaces", axis: "spaces that messages go to in turn", places: tens(1, faultrig.Size(100, 10_000)), n: faultrig.Size(200, 3_000), flat: 1.5,
			prepare: func(t *testing.T, place int) func(int) {
				space := func(k int) c3po.Space { return c3po.Space(fmt.Sprintf("many-%d", k%place)) }
				if err := inParallel(64, place, func(i int) error {
					return g.setup.register(t.Context(), space(i), []c3po.AgentID{"asker-0", "helper-0"})
				}); err != nil {
					t.Fatal(err)
				}
				text := strings.Repeat("x", 1024)
				send := g.workers(t, space, func(s *webSeat, _ int) error {
					s.id = "asker-0"
					_, err := s.send(t.Context(), "helper-0", text)
					return err
				})
				send(place) // the first message to a space costs more: a coordinator learns who is there
				return send
			},
		},
		{
			name: "waiters", axis: "waits that sleep on the coordinator", places: tens(10, faultrig.Size(100, 10_000)), n: faultrig.Size(200, 1_500), flat: 1.3,
			prepare: func(t *testing.T, place int) func(int) {
				g.register(t, "waiters", inboxes)
				g.sleep(t, "waiters", names("sleeper", place), slept)
				slept = place
				return g.sends(t, "waiters", inboxes, 1024)
			},
		},
		{
			name: "inbox", axis: "unread messages in the inbox", places: tens(10, faultrig.Size(1_000, 100_000)), n: faultrig.Size(200, 1_500), flat: 1.3,
			prepare: func(t *testing.T, place int) func(int) {
				g.register(t, "inbox", inboxes[:1])
				g.fillMore(t, "inbox", inboxes[0], &filled, place)
				return g.sends(t, "inbox", inboxes[:1], 1024)
			},
		},
		{
			name: "reading", axis: "unread messages, of which a page of 20 is read", places: tens(10, faultrig.Size(1_000, 100_000)), n: faultrig.Size(200, 1_000),
			prepare: func() func(t *testing.T, place int) func(int) {
				var filled int
				return func(t *testing.T, place int) func(int) {
					g.register(t, "reading", names("asker", 1))
					g.fillMore(t, "reading", "asker-0", &filled, place)
					return g.workers(t, always("reading"), func(s *webSeat, _ int) error {
						s.id = "asker-0"
						_, err := s.call(t.Context(), "get_messages", c3po.GetMessagesInput{Limit: 20})
						return err
					})
				}
			}(),
		},
		{
			name: "room", axis: "members of the room", places: tens(10, faultrig.Size(1_000, 100_000)), n: faultrig.Size(200, 1_500), flat: 1.3,
			prepare: func(t *testing.T, place int) func(int) {
				// A room for each number: all that is posted in one would fill it.
				room := c3po.RoomName(fmt.Sprint("lobby-", place))
				members := append(names("asker", 16), names("member", place)...)
				g.register(t, "rooms", members[:16])
				g.register(t, "rooms", members[16+joined:])
				joined = place
				if err := inParallel(64, len(members), func(i int) error {
					_, err := g.setup.store.Join(t.Context(), "rooms", store.JoinStep{Room: room, Agent: members[i], Visibility: c3po.Public})
					return err
				}); err != nil {
					t.Fatal(err)
				}
				text := strings.Repeat("x", 1024)
				return g.workers(t, always("rooms"), func(s *webSeat, _ int) error { return s.post(t.Context(), room, text) })
			},
		},
		{
			name: "body", axis: "characters of the message", places: append(tens(10, 10_000), 50_000), n: faultrig.Size(200, 1_000),
			prepare: func(t *testing.T, place int) func(int) {
				g.register(t, "body", inboxes)
				return g.sends(t, "body", inboxes, place)
			},
		},
	}
}

// tens are the powers of ten from one to the other.
func tens(from, to int) []int {
	var all []int
	for n := from; n <= to; n *= 10 {
		all = append(all, n)
	}
	return all
}

// fillMore puts messages into an inbox until there are so many.
func (g growing) fillMore(t *testing.T, space c3po.Space, inbox c3po.AgentID, have *int, want int) {
	t.Helper()
	if want > *have {
		g.fill(t, space, []c3po.AgentID{inbox}, want-*have)
		*have = want
	}
}

// sleep makes agents wait, and returns when all of them do; the first ones do
// already. They wait until the test ends.
func (g growing) sleep(t *testing.T, space c3po.Space, all []c3po.AgentID, already int) {
	t.Helper()
	ids := all[already:]
	g.register(t, space, ids)
	door := &web{address: strings.TrimPrefix(g.coordinator.URL(), "http://"), space: space}
	asked, err := door.open(t.Context(), "asker-0")
	if err != nil {
		t.Fatal(err)
	}
	seats, err := stage{open: door.open}.seats(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range seats {
		go func() {
			if pass(t.Context(), time.Duration(i)*arriveEvery, nil, nil) == nil {
				_ = s.woken(t.Context())
			}
		}()
	}
	if err := asked.(*webSeat).untilAsleep(t.Context(), len(all)); err != nil {
		t.Fatal(err)
	}
}

// A message costs the same however much there is besides it.
func TestThePriceOfAMessageAsThingsGrow(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells the processor time of another process")
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(byName(curves(growing{})))) {
		t.Run(name, func(t *testing.T) {
			g := growing{newUnlimited(t)}
			c := byName(curves(g))[name]
			prices := g.follow(t, c)
			writeCurve(&text, c, prices)
			if first, last := prices[0], prices[len(prices)-1]; c.flat > 0 {
				faultrig.Hold(t, fmt.Sprintf("processor time of a message with %d %s, of one with %d", c.places[len(prices)-1], c.axis, c.places[0]),
					(last.coordinator+last.redis)/(first.coordinator+first.redis), c.flat)
				// Waits that have just come are written down meanwhile, one call each.
				if last.calls > first.calls+1 {
					t.Errorf("it takes %.1f round trips, and took %.1f", last.calls, first.calls)
				}
			}
		})
	}
	if folder := os.Getenv(reportFolder); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, "growth.md"), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func byName(all []curve) map[string]curve {
	named := map[string]curve{}
	for _, c := range all {
		named[c.name] = c
	}
	return named
}

// follow measures a curve from its beginning. The price at a place is the median
// of several turns, as far as one is cheap enough to be taken often.
func (g growing) follow(t *testing.T, c curve) []price {
	t.Helper()
	var prices []price
	for _, place := range c.places {
		do := c.prepare(t, place)
		do(c.n / 4) // warms up
		turns := make([]price, 3)
		for i := range turns {
			turns[i] = g.price(t, c.n, do)
		}
		p := middle(turns)
		prices = append(prices, p)
		t.Logf("%7d %s: coordinator %.0f µs, Redis %.0f µs, %.1f calls, %.0f bytes to Redis, %.0f from it, %.0f into its log",
			place, c.axis, p.coordinator, p.redis, p.calls, p.in, p.out, p.log)
	}
	return prices
}

// middle is the median of each figure.
func middle(turns []price) price {
	of := func(figure func(price) float64) float64 {
		var all []float64
		for _, turn := range turns {
			all = append(all, figure(turn))
		}
		return median(all)
	}
	return price{
		coordinator: of(func(p price) float64 { return p.coordinator }), redis: of(func(p price) float64 { return p.redis }),
		calls: of(func(p price) float64 { return p.calls }), in: of(func(p price) float64 { return p.in }),
		out: of(func(p price) float64 { return p.out }), log: of(func(p price) float64 { return p.log }),
	}
}

// writeCurve adds a curve to the report.
func writeCurve(text *strings.Builder, c curve, prices []price) {
	fmt.Fprintf(text, "| %s | coordinator | Redis | calls | to Redis | from Redis | into the log |\n|--:|--:|--:|--:|--:|--:|--:|\n", c.axis)
	for i, p := range prices {
		fmt.Fprintf(text, "| %d | %.0f µs | %.0f µs | %.1f | %.0f | %.0f | %.0f |\n", c.places[i], p.coordinator, p.redis, p.calls, p.in, p.out, p.log)
	}
	text.WriteString("\n")
}
