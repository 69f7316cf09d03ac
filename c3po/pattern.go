package c3po

import "strings"

// A Pattern covers agent ids, or spaces: a * is any text, also none, within its
// part. "*" covers bare names only, "box/*" all of a host.
type Pattern string

// Covers says whether the pattern covers an id.
func (p Pattern) Covers(id AgentID) bool {
	return id != "" && p.CoversAll(Pattern(id))
}

// Words says which agents it is for.
func (p Pattern) Words() string {
	if p == "*" {
		return "agents without a host in their names; '" + string(Human) + "' and '" + string(System) + "' are none"
	}
	return string(p)
}

// CoversAll says whether every id that inner covers is covered too. It may say
// no where yes would be true, never the other way round.
func (p Pattern) CoversAll(inner Pattern) bool {
	host, name, split := strings.Cut(string(p), "/")
	innerHost, innerName, innerSplit := strings.Cut(string(inner), "/")
	return split == innerSplit && matches(host, innerHost) && (!split || matches(name, innerName))
}

// CoversSpace says whether the pattern covers a space.
func (p Pattern) CoversSpace(space Space) bool { return matches(string(p), string(space)) }

// matches compares one part. It goes back to the last * only, which is enough
// and keeps the time linear in both lengths.
func matches(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
