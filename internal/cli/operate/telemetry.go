package operate

import (
	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/ops/telemetry"
)

// exporting is the setting by which an OpenTelemetry collector is told what happens. What
// else there is to say has the variables of OpenTelemetry, which the collector's other
// clients have too. They alone turn nothing on: they may be meant for a coding agent.
type exporting struct {
	to string
	telemetry.Config
}

func (e *exporting) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&e.to, "otlp", telemetry.Off, "send traces and metrics to an OpenTelemetry collector: http, grpc, or its address")
	console.Setting(flags, "otlp", "C3PO_OTLP", "otlp")
}

func (e *exporting) variables() []string { return []string{"C3PO_OTLP=" + e.to} }

// read makes the config, and refuses what cannot work.
func (e *exporting) read(getenv func(string) string) (err error) {
	e.Config, err = telemetry.Parse(e.to, getenv)
	return console.Misspelled(err)
}
