package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// advice names the key that was probably meant.
func advice(key, under string, known []string) string {
	best, least := "", 1+len(key)/2 // further away it is another word
	for _, candidate := range known {
		if d := c3po.EditDistance(strings.ReplaceAll(key, "-", "_"), candidate); d < least {
			best, least = candidate, d
		}
	}
	if best != "" {
		return fmt.Sprintf("Did you mean %s?", best)
	}
	if under == "" && slices.Contains(LimitNames(), key) {
		return fmt.Sprintf("It belongs under %s.", limitsKey)
	}
	return "`c3po config` lists all settings."
}
