package doctor

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	maxClockSkew = 5 * time.Second        // beyond it, times of different hosts cannot be compared
	maxRoundTrip = 250 * time.Millisecond // beyond it, hooks say nothing in time
	fullAt       = 0.9                    // of the memory that Redis may use

	minDiskBytes = 64 << 20 // bytes; below it the next write may be the last
	diskEnough   = 1 << 30
)

// oldestRedis is the first version with what the scripts use.
const oldestRedis = 7

func (f Facts) coordinator() []Finding {
	const check = "coordinator"
	c := f.Coordinator
	if c.Err != nil {
		e := c3po.AsError(c.Err)
		if errors.Is(c.Err, c3po.CoordDown) && c.Other {
			return []Finding{red(check, "check that it runs on its own host, and that this one has a network", "none answers at %s, which this host uses", c.URL)}
		}
		if errors.Is(c.Err, c3po.CoordDown) {
			none := red(check, "c3po up starts one here; c3po join reaches one elsewhere", "there is none at %s", c.URL)
			if c.NoRedis != nil {
				missing := c3po.AsError(c.NoRedis)
				return []Finding{red("redis", missing.Suggestion, "%s, and c3po up needs one", missing.Message), none}
			}
			return []Finding{none}
		}
		if errors.Is(c.Err, c3po.Forbidden) && c.TLS.Secure {
			check := "tls"
			return []Finding{red(check, e.Suggestion, "%s", e.Message)}
		}
		return []Finding{red(check, e.Suggestion, "%s: %s", c.URL, e.Message)}
	}
	all := []Finding{green(check, "%s answers", c.URL), f.tls()}
	if c.Info == nil {
		return append(all, trouble("access", c.Why))
	}
	all = append(all, f.access()...)
	all = append(all, c.versions(f.Version), c.clock(), c.latency())
	if c.Trip != nil {
		all = append(all, c.Trip.finding())
	}
	all = append(all, c.durability())
	if c.Info.Engine != nil {
		all = append(all, engine(*c.Info.Engine)...)
	}
	if c.Audit != nil {
		all = append(all, c.books(*c.Audit))
	}
	if !c.PasskeysEnd.IsZero() {
		all = append(all, yellow("passkeys", "if you did not ask for that, use one of them now: c3po open", "all your passkeys are forgotten at %s", c.PasskeysEnd.Local().Format("15:04")))
	}
	return all
}

func (c Coordinator) versions(version string) Finding {
	if c.Info.Version != version {
		return yellow("versions", "update the older of them", "this program is %s, the coordinator %s; they understand each other", version, c.Info.Version)
	}
	return green("versions", "this program and the coordinator are both %s", version)
}

func (c Coordinator) clock() Finding {
	if off := c.Skew.Abs(); off > maxClockSkew {
		return yellow("clock", "set the clocks by NTP; no mail is lost by this, but times are wrong", "this host's clock and Redis' clock differ by %s", off.Round(time.Second))
	}
	return green("clock", "this host and Redis agree to within %s", maxClockSkew)
}

func (c Coordinator) latency() Finding {
	if c.Round > maxRoundTrip {
		return yellow("latency", "look at the load of the coordinator's host, and at the network", "a call that asks Redis takes %s", c.Round.Round(time.Millisecond))
	}
	return green("latency", "a call that asks Redis takes %s; %d waits sleep there", c.Round.Round(100*time.Microsecond), c.Info.Waiters)
}

func (t Trip) finding() Finding {
	const check = "round trip"
	if t.Err != nil {
		e := c3po.AsError(t.Err)
		return red(check, orElse(e.Suggestion, "c3po verify says more"), "a message to oneself does not arrive: %s", e.Message)
	}
	return green(check, "a message to oneself was sent, read and acked in %s", t.Took.Round(100*time.Microsecond))
}

func (c Coordinator) durability() Finding {
	if c.Info.Durability != c3po.OnDisk {
		return yellow("durability", "set appendonly yes and appendfsync always in Redis", "a power cut would lose mail that was accepted")
	}
	return green("durability", "what is accepted is on disk")
}

// engine is what Redis says of itself.
func engine(e c3po.Engine) []Finding {
	var all []Finding
	major, _ := strconv.Atoi(strings.SplitN(e.Version, ".", 2)[0]) // 0 is too old as well
	if major < oldestRedis {
		all = append(all, red("redis version", "update it to 7 or later", "Redis is %q", e.Version))
	} else {
		all = append(all, green("redis version", "%s", e.Version))
	}
	if e.Eviction != "noeviction" {
		all = append(all, red("redis eviction", "set maxmemory-policy noeviction in Redis", "Redis throws mail away when its memory is full: %s", e.Eviction))
	} else {
		all = append(all, green("redis eviction", "Redis refuses writes before it throws anything away"))
	}
	if len(e.Problems) > 0 {
		all = append(all, red("redis disk", "look at the log of Redis, and at the free space of its disk", "%s", strings.Join(e.Problems, "; ")))
	} else {
		all = append(all, engineDisk(e))
	}
	if e.MaxMemory > 0 && float64(e.MemoryUsed) > fullAt*float64(e.MaxMemory) {
		all = append(all, yellow("redis memory", "give Redis more memory (maxmemory)", "%d of %d MiB are used", e.MemoryUsed>>20, e.MaxMemory>>20))
	} else {
		all = append(all, green("redis memory", "%d MiB are used", e.MemoryUsed>>20))
	}
	return all
}

// engineDisk judges what is free where Redis keeps its data. A log that is made
// shorter is there twice while that lasts.
func engineDisk(e c3po.Engine) Finding {
	const check, fix = "redis disk", "make room on the disk where Redis keeps its data; when it is full nothing more is accepted"
	rewriting := ""
	if e.Rewriting {
		rewriting = "; its log is being made shorter now"
	}
	switch {
	case e.Disk == nil:
		return green(check, "the last writes to disk went well%s", rewriting)
	case *e.Disk < minDiskBytes:
		return red(check, fix, "%d MiB are free where Redis keeps its data", *e.Disk>>20)
	case *e.Disk < max(diskEnough, 2*e.MemoryUsed):
		return yellow(check, fix, "%d MiB are free where Redis keeps its data", *e.Disk>>20)
	default:
		return green(check, "the last writes to disk went well, and %d GiB are free%s", *e.Disk>>30, rewriting)
	}
}

func (c Coordinator) books(a c3po.Audit) Finding {
	const check = "books"
	switch {
	case !a.Balanced:
		return red(check, "c3po fsck shows more; keep a copy of the data of Redis before anything else", "messages are missing: %s", strings.Join(a.Problems, "; "))
	case a.Epoch > 1:
		return yellow(check, "the log of the coordinator says when; see docs/operations/operations.md", "Redis once went back and forgot accepted mail: epoch %d", a.Epoch)
	case c.Corrupt > 0:
		return yellow(check, "c3po dead-letter list --reason corrupt; look at the disk and the memory of Redis's machine", "%d messages were found damaged, and were not shown to anybody", c.Corrupt)
	case a.Dead > 0:
		return yellow(check, "c3po dead-letter list", "no message is missing; nobody acked %d", a.Dead)
	default:
		return green(check, "no message is missing: %d sent, %d wait", a.Sent, a.Pending)
	}
}
