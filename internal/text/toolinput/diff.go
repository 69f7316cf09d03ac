package toolinput

import "strings"

// maxUnchanged is how many unchanged lines are shown on either side of a change.
const maxUnchanged = 3

// diff marks the lines that go and those that come; lines that stay at either end are
// marked by a space.
func diff(before, after string) string {
	old, changed := strings.Split(before, "\n"), strings.Split(after, "\n")
	if before == "" {
		old = nil
	}
	if after == "" {
		changed = nil
	}
	head := 0
	for head < min(len(old), len(changed)) && old[head] == changed[head] {
		head++
	}
	tail := 0
	for tail < min(len(old), len(changed))-head && old[len(old)-1-tail] == changed[len(changed)-1-tail] {
		tail++
	}
	var lines []string
	mark := func(sign string, all ...string) {
		for _, line := range all {
			lines = append(lines, sign+line)
		}
	}
	if left := head - maxUnchanged; left > 0 {
		mark(" ", count(left, "line unchanged", "lines unchanged"))
	}
	mark(" ", spellLines(old[max(0, head-maxUnchanged):head])...)
	mark("-", spellLines(old[head:len(old)-tail])...)
	mark("+", spellLines(changed[head:len(changed)-tail])...)
	end := old[len(old)-tail:]
	mark(" ", spellLines(end[:min(tail, maxUnchanged)])...)
	if left := tail - maxUnchanged; left > 0 {
		mark(" ", count(left, "line unchanged", "lines unchanged"))
	}
	if len(lines) == 0 {
		return nothing
	}
	return strings.Join(lines, "\n")
}

// nothing is a text without a single line.
const nothing = " ⟨empty⟩"

// markAdded marks the lines of a new file.
func markAdded(content string) string {
	if content == "" {
		return nothing
	}
	return "+" + strings.Join(spellLines(strings.Split(strings.TrimSuffix(content, "\n"), "\n")), "\n+")
}
