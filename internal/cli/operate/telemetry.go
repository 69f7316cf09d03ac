package operate

import (
	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/ops/telemetry"
)

// exporting are the settings by which an OpenTelemetry collector is told what happens. Where it
// is has the names of OpenTelemetry itself. They alone turn nothing on: they may be set for
// other programs, as for a coding agent that reports its own use.
type exporting struct{ telemetry.Config }

func (e *exporting) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&e.Protocol, "otlp", telemetry.Off, "send traces and metrics to an OpenTelemetry collector: off, http or grpc")
	flags.StringVar(&e.Endpoint, "otlp-endpoint", "", "the collector's address; default: port 4318 (http) or 4317 (grpc) of this machine")
	flags.StringVar(&e.Headers, "otlp-headers", "", "what the collector asks for, as name=value; better set where others cannot read it")
	flags.StringVar(&e.Certificate, "otlp-certificate", "", "PEM file of the authority that vouches for the collector")
	console.Setting(flags, "otlp", "C3PO_OTLP", "otlp.protocol")
	console.Setting(flags, "otlp-endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT", "otlp.endpoint")
	console.Setting(flags, "otlp-headers", "OTEL_EXPORTER_OTLP_HEADERS", "otlp.headers")
	console.Setting(flags, "otlp-certificate", "OTEL_EXPORTER_OTLP_CERTIFICATE", "otlp.certificate")
}

func (e *exporting) variables() []string {
	return []string{
		"C3PO_OTLP=" + e.Protocol,
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + e.Endpoint,
		"OTEL_EXPORTER_OTLP_HEADERS=" + e.Headers,
		"OTEL_EXPORTER_OTLP_CERTIFICATE=" + e.Certificate,
	}
}

func (e *exporting) check() error { return console.Misspelled(e.Check()) }
