package settings

import (
	"fmt"
	"slices"
	"strings"
)

func contains(known []string, key string) bool { return slices.Contains(known, key) }

// advice names the key that was probably meant.
func advice(key, under string, known []string) string {
	best, least := "", 1+len(key)/2 // further away it is another word
	for _, candidate := range known {
		if d := distance(strings.ReplaceAll(key, "-", "_"), candidate); d < least {
			best, least = candidate, d
		}
	}
	if best != "" {
		return fmt.Sprintf("Did you mean %s?", best)
	}
	if under == "" && contains(LimitNames(), key) {
		return fmt.Sprintf("It belongs under %s.", limitsKey)
	}
	return "`c3po config` lists all settings."
}

// distance is how many letters must be added, taken away or changed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
