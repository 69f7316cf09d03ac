package doctor

import (
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// soon is how long before something ends it is worth a word.
const soon = 14 * 24 * time.Hour

// tls is whether somebody between this host and the coordinator could read or
// pose as it.
func (f Facts) tls() Finding {
	const check = "tls"
	switch t := f.Coordinator.TLS; {
	case t.Near && !t.Secure:
		return green(check, "not needed: the coordinator is on this machine")
	case !t.Secure:
		return yellow(check, "start the coordinator without --tls off, and join it again", "what is sent to the coordinator can be read on its way")
	case !t.Pinned:
		return green(check, "the coordinator shows a certificate that this system trusts")
	case t.Expires.Sub(f.Now) < soon:
		return yellow(check, "c3po invite on the coordinator's machine, and c3po join here", "the authority of the coordinator ends on %s", t.Expires.Format(time.DateOnly))
	default:
		return green(check, "the coordinator is the one whose authority was stored here, good until %s", t.Expires.Format(time.DateOnly))
	}
}

// access is what this host was let in with, and whether that is enough.
func (f Facts) access() []Finding {
	const check = "access"
	info, by := f.Coordinator.Info, f.Coordinator.Info.Access
	if info.Auth != "" {
		return []Finding{red(check, "start the coordinator without --auth none", "authentication is off: whoever reaches the coordinator may act as anybody")}
	}
	all := []Finding{green(check, "this host is let in, to space %s, as %s", info.Space, by.Role)}
	switch {
	case by.Role != c3po.RoleAgent:
		all = append(all, yellow("token", "give agents the token of an agent: c3po join, or c3po token create --role agent",
			"what is used here is a token of the role %s, with which no agent can work", by.Role))
	case by.KID == "":
		all = append(all, green("token", "not needed: the coordinator's socket knows this user"))
	case by.Expires.Sub(f.Now) < soon:
		all = append(all, yellow("token", "c3po token rotate "+by.KID+" on the coordinator's machine, or c3po join again",
			"the token %s ends on %s", by.KID, by.Expires.Format(time.DateTime)))
	default:
		all = append(all, green("token", "%s is good until %s, and longer if it is used", by.KID, by.Expires.Format(time.DateOnly)))
	}
	if name, covered := Covers(by.Agents, f.Name); f.Name != "" && !covered {
		all = append(all, red("name", "c3po token create --role agent --agents PATTERN, or another name with C3PO_AGENT_ID",
			"an agent in this folder is called %s, and the token is for %s", name, by.Agents))
	} else if h := f.Coordinator.Holder; f.Name != "" && h != nil {
		all = append(all, green("name", "an agent in this folder is called %s; one is online%s, so the next gets a number", name, on(h.Host)))
	} else if f.Name != "" {
		all = append(all, green("name", "an agent in this folder is called %s", name))
	}
	if f.Coordinator.Person != nil {
		e := c3po.AsError(f.Coordinator.Person)
		all = append(all, yellow("person", orElse(e.Suggestion, "c3po up writes new ones"), "the credentials of the person do not work: %s", e.Message))
	}
	return all
}

// Covers is the id that who asks for name gets, and whether it may have it: a
// bare name on a host that has joined becomes one of that host.
func Covers(pattern c3po.Pattern, name c3po.AgentID) (c3po.AgentID, bool) {
	host, _, split := strings.Cut(string(pattern), "/")
	if split && !strings.Contains(host, "*") && name.Host() == "" {
		name = c3po.AgentID(host + "/" + string(name))
	}
	return name, pattern == "" || pattern.Covers(name)
}

func on(host string) string {
	if host == "" {
		return ""
	}
	return " on " + host
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
