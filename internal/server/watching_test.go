package server_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What TestTheNamesOfTheMetricsAreAContract holds against a coordinator is held here
// against the files that people watch it with.
func TestAlertsAndDashboardAskForMetricsThatACoordinatorHas(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("testdata/metrics.golden")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(golden)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		known[name] = true
	}
	for _, file := range []string{"prometheus/c3po.rules.yaml", "prometheus/c3po.rules.test.yaml", "grafana/c3po.json"} {
		text, err := os.ReadFile(filepath.Join("../../deploy", file))
		if err != nil {
			t.Fatal(err)
		}
		asked := regexp.MustCompile(`\bc3po_[a-z_]+`).FindAllString(string(text), -1)
		if len(asked) == 0 {
			t.Errorf("%s asks for nothing", file)
		}
		for _, name := range asked {
			if !known[name] {
				t.Errorf("%s asks for %s, which no coordinator has", file, name)
			}
		}
	}
}
