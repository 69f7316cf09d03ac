package doctor

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Exposure is what else was found out for who asks how safe this host is.
type Exposure struct {
	Places []Place
	// Tokens are all there are; nil if they could not be listed.
	Tokens []c3po.Token
	NoList error       // why not
	Redis  string      // the address in the settings here; empty if there is none
	Auth   string      // how the next coordinator of these settings lets in
	Env    []c3po.Role // of tokens in the environment, which every program below has
	Former []string    // files of credentials that are not used any more
}

// A Place is a file or folder that nobody else should write to, or read.
type Place struct {
	Name     string
	What     string // in words
	Writable bool   // by others
	Readable bool   // by others, and it should not be
	Foreign  bool   // it belongs to somebody else
}

// maxTokenIdle is how long a token may lie about.
const maxTokenIdle = 90 * 24 * time.Hour

// Guard makes the checks of security: those of Examine that are about it are not
// repeated.
func Guard(f Facts, x Exposure) []Finding {
	all := places(x.Places)
	all = append(all, f.reach())
	all = append(all, f.tokens(x)...)
	all = append(all, surroundings(x)...)
	all = append(all, redis(x.Redis))
	if info := f.Coordinator.Info; info != nil && info.Engine != nil {
		all = append(all, fixFinding(*info.Engine))
	}
	return all
}

func places(all []Place) []Finding {
	const check = "rights"
	var bad []Finding
	for _, p := range all {
		switch {
		case p.Foreign:
			bad = append(bad, red(check, "chown it, or remove it", "%s, %s, belongs to somebody else", p.Name, p.What))
		case p.Writable:
			bad = append(bad, red(check, "chmod go-w "+p.Name, "others may write to %s, %s", p.Name, p.What))
		case p.Readable:
			bad = append(bad, red(check, "chmod go-rwx "+p.Name, "others may read %s, %s", p.Name, p.What))
		}
	}
	if len(bad) == 0 {
		return []Finding{green(check, "nobody else can change the program, or read the %d files and folders of c3po here", len(all))}
	}
	return bad
}

// reach is who gets to the coordinator, and what they see on the way.
func (f Facts) reach() Finding {
	const check = "reach"
	c := f.Coordinator
	open := c.Info != nil && c.Info.Auth != ""
	switch {
	case open && !c.TLS.Near:
		return red(check, "start the coordinator without --auth none; c3po invite lets other machines in", "the coordinator at %s asks nobody for a token, and other machines reach it", c.URL)
	case open:
		return yellow(check, "start the coordinator without --auth none", "every user and every web page of this machine that reaches %s may act as anybody", c.URL)
	case !c.TLS.Near && !c.TLS.Secure:
		return red(check, "start the coordinator without --tls off", "tokens and messages pass the network in clear on their way to %s", c.URL)
	default:
		return green(check, "a token is needed, and nobody in between can read")
	}
}

// tokens finds those that are worth more than they need to be.
func (f Facts) tokens(x Exposure) []Finding {
	const check = "tokens"
	if x.Tokens == nil {
		why := "only an admin can list them"
		if x.NoList != nil {
			why = c3po.AsError(x.NoList).Message
		}
		return []Finding{green(check, "not looked at: %s", why)}
	}
	var bad []Finding
	live, admins := 0, 0
	for _, t := range x.Tokens {
		if t.State != "live" {
			continue
		}
		live++
		name := t.KID
		if t.Label != "" {
			name += " (" + t.Label + ")"
		}
		if t.Role == c3po.RoleAdmin {
			admins++
		}
		last := t.LastUsed
		if last.IsZero() {
			last = t.Created
		}
		switch {
		case (t.Role == c3po.RoleAgent || t.Role == c3po.RoleRunner) && strings.HasPrefix(t.Agents, "*/"):
			bad = append(bad, yellow(check, "c3po token create for one host (--agents HOST/*), then c3po token revoke "+t.KID,
				"%s may act as the agents of every host: %s", name, t.Agents))
		case f.Now.Sub(last) > maxTokenIdle:
			bad = append(bad, yellow(check, "c3po token revoke "+t.KID, "%s, of the role %s, was not used for %d days", name, t.Role, int(f.Now.Sub(last)/(24*time.Hour))))
		}
	}
	if admins > maxAdmins {
		bad = append(bad, yellow(check, "c3po token list; revoke those nobody needs", "%d tokens of admins are live", admins))
	}
	if len(bad) == 0 {
		return []Finding{green(check, "%d are live, none of them for more than one host or forgotten", live)}
	}
	return bad
}

// maxAdmins is how many admins one would expect, with one that is being rotated.
const maxAdmins = 3

// surroundings are what lies about on this host.
func surroundings(x Exposure) []Finding {
	var bad []Finding
	for _, role := range x.Env {
		if role == c3po.RoleHuman || role == c3po.RoleAdmin {
			bad = append(bad, red("environment", "unset C3PO_TOKEN; the person's credentials are found without it",
				"C3PO_TOKEN holds a token of the role %s, and every program that is started here has it, agents too", role))
		}
	}
	if x.Auth == "none" {
		bad = append(bad, yellow("leftovers", "remove auth: none from c3po.yaml, or C3PO_AUTH from the environment", "the settings here say --auth none, for the next coordinator that is started"))
	}
	for _, file := range x.Former {
		bad = append(bad, yellow("leftovers", "revoke its token on the coordinator it is for, and remove the file", "%s still holds the credentials of before this host joined", file))
	}
	if len(bad) == 0 {
		bad = append(bad, green("leftovers", "no token lies about here, and no setting lets everybody in"))
	}
	return bad
}

// redis judges the way to a Redis of the person's own.
func redis(address string) Finding {
	const check = "redis access"
	first, _, _ := strings.Cut(address, ",")
	at, err := url.Parse(first)
	switch {
	case address == "":
		return green(check, "no Redis address is set here; c3po up uses this user's socket")
	case err != nil || at.Scheme == "unix" || strings.HasPrefix(first, "/") || loopback(at.Hostname()):
		return green(check, "Redis is reached without leaving this machine")
	}
	password, _ := at.User.Password()
	if at.User == nil || password == "" {
		return red(check, "give Redis a password (ACL user), and the address user:password@", "Redis at %s lets everybody in who reaches it: no password is in its address", at.Host)
	}
	if at.Scheme != "rediss" {
		return yellow(check, "use rediss:// and TLS in Redis, or a separate network", "the traffic to Redis at %s can be read on the network", at.Host)
	}
	return green(check, "Redis at %s asks for a password, over TLS", at.Host)
}

func loopback(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	return host == "" || host == "localhost"
}

// oldestMended is the first series that its makers still mended when the holes
// below were found.
var oldestMended = [2]int{7, 2}

// mendedIn is the version of a series that has no known hole by which who is let
// into the server takes over its machine: CVE-2025-49844 in the scripts, and in
// the newest of Redis CVE-2026-23479. 0 if the series never had one.
func mendedIn(server string, series [2]int) int {
	if server == "valkey" {
		return map[[2]int]int{{7, 2}: 11, {8, 0}: 6, {8, 1}: 4}[series]
	}
	return map[[2]int]int{{7, 2}: 11, {7, 4}: 6, {8, 0}: 4, {8, 2}: 2, {8, 6}: 3}[series]
}

func fixFinding(e c3po.Engine) Finding {
	const check = "redis holes"
	const fix = "update it; a distribution may have mended the holes under the old number, which its changelog says"
	var series [2]int
	var patch int
	if n, _ := fmt.Sscanf(e.Version, "%d.%d.%d", &series[0], &series[1], &patch); n < 3 {
		return yellow(check, fix, "it is not known which holes %s %q has", e.Name, e.Version)
	}
	switch least := mendedIn(e.Name, series); {
	case patch < least:
		return yellow(check, fix, "%s %s has known holes that %d.%d.%d has not (CVE-2025-49844, CVE-2026-23479)", e.Name, e.Version, series[0], series[1], least)
	case before(series, oldestMended):
		return yellow(check, fix, "the makers of %s mend %d.%d no more (CVE-2025-49844)", e.Name, series[0], series[1])
	default:
		return green(check, "%s %s has none that this c3po knows of", e.Name, e.Version)
	}
}

func before(x, y [2]int) bool { return x[0] < y[0] || x[0] == y[0] && x[1] < y[1] }
