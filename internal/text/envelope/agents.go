package envelope

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// maxSayingCharacters is how many characters of one saying a list shows of an agent, and
	// maxSkills how many of its capabilities: a list is read for whom to ask.
	maxSayingCharacters = 60
	maxSkills           = 6
)

// Agents lists agents as the tool of that name answers it, one line each. All that
// an agent says of itself is text of others, and stays behind the gutter and in
// quotes; what stands before it is the coordinator's.
func (r Renderer) Agents(tool string, list c3po.AgentList) string {
	var b strings.Builder
	if len(list.Agents) == 0 {
		b.WriteString("c3po: no agents here.\n")
	} else {
		fmt.Fprintf(&b, "c3po: %s: status, when it reads mail, then what it says of itself. %s\n", count(len(list.Agents), "agent"), carries)
	}
	for _, agent := range list.Agents {
		b.WriteString(agentLine(agent, maxSayingCharacters, maxSkills))
	}
	more(&b, tool, list.Next)
	return b.String()
}

// CoWorkers is Agents in short.
func (r Renderer) CoWorkers(tool string, list c3po.CoWorkerList) string {
	agents := c3po.AgentList{Next: list.Next}
	for _, one := range list.CoWorkers {
		agents.Agents = append(agents.Agents, c3po.Agent{ID: one.ID, Status: one.Status, Type: one.Type, Cwd: one.Cwd})
	}
	return r.Agents(tool, agents)
}

// Agent shows one agent with all it says of itself.
func (r Renderer) Agent(agent c3po.Agent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "c3po: agent %s, last seen %s. %s\n", word(string(agent.ID)), agent.LastSeen.UTC().Format(time.RFC3339), carries)
	b.WriteString(agentLine(agent, 0, 0))
	if len(agent.Metadata) > 0 {
		writeCarried(&b, "metadata "+string(agent.Metadata))
	}
	return b.String()
}

// FitAgents says how many agents, from the first on, make an answer of at most so
// many bytes. The first always fits.
func FitAgents(agents []c3po.Agent, most int) int {
	const frame = 1 << 10 // first line and the way to the next page
	size := frame
	for i, agent := range agents {
		size += len(agentLine(agent, maxSayingCharacters, maxSkills))
		if size > most && i > 0 {
			return i
		}
	}
	return len(agents)
}

// agentLine is one agent. Sayings longer than longest, and more skills than most,
// are cut, and it shows; 0 cuts nothing.
func agentLine(a c3po.Agent, longest, most int) string {
	parts := []string{agentFacts(a)}
	add := func(label, saying string) {
		if saying != "" {
			parts = append(parts, label+quoteSaying(saying, longest))
		}
	}
	if a.Name != string(a.ID) {
		add("name ", a.Name)
	}
	add("", a.Type)
	if a.Host != a.ID.Host() {
		add("host ", a.Host)
	}
	add("", a.Cwd)
	add("task ", a.CurrentTask)
	var skills []string
	for i, skill := range a.Capabilities {
		if most > 0 && i == most {
			skills = append(skills, fmt.Sprintf("%d more", len(a.Capabilities)-most))
			break
		}
		skills = append(skills, quoteSaying(skill, longest))
	}
	if len(skills) > 0 {
		parts = append(parts, "can "+strings.Join(skills, ", "))
	}
	if len(a.Rooms) > 0 && longest == 0 {
		rooms := make([]string, len(a.Rooms))
		for i, room := range a.Rooms {
			rooms[i] = word(string(room))
		}
		parts = append(parts, "in rooms "+strings.Join(rooms, ", "))
	}
	return gutter + strings.Join(parts, "; ") + "\n"
}

// agentFacts is what the coordinator knows of an agent.
func agentFacts(a c3po.Agent) string {
	facts := []string{word(string(a.Status))}
	switch a.Reachability {
	case "", c3po.ReachOffline:
	default:
		facts = append(facts, onOneLine(a.Reachability.When()))
	}
	if a.Availability != "" && a.Availability != c3po.Available {
		facts = append(facts, word(string(a.Availability)))
	}
	return brief(a.ID) + ": " + strings.Join(facts, ", ")
}

// brief is an id as lists show it. Both parts around its mark are words.
func brief(id c3po.AgentID) string {
	before, mark, cut := strings.Cut(id.Brief(), "~")
	if cut {
		return word(before) + "~" + word(mark)
	}
	return word(before)
}

// quoteSaying is a saying of others within a line: a single word as it is, all else in
// quotes that it cannot leave.
func quoteSaying(saying string, longest int) string {
	plain := true
	for i := range len(saying) {
		plain = plain && isWordByte(saying[i])
	}
	cut := ""
	if longest > 0 && utf8.RuneCountInString(saying) > longest {
		saying, cut = string([]rune(saying)[:longest]), "…"
	}
	if plain {
		return saying + cut
	}
	return `"` + strings.ReplaceAll(onOneLine(saying), `"`, `\u{22}`) + cut + `"`
}

// Carried is a saying of others' as a model reads it: behind the gutter, on one line, cut.
// It is empty if nothing was said.
func Carried(saying string, longest int) string {
	saying = strings.Join(strings.Fields(saying), " ")
	if saying == "" {
		return ""
	}
	if runes := []rune(saying); len(runes) > longest {
		saying = string(runes[:longest-1]) + "…"
	}
	return gutter + onOneLine(saying) + "\n"
}
