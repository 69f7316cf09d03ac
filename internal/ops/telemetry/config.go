// Package telemetry tells an OpenTelemetry collector what a coordinator does: a span for each
// message that ended here, and the numbers of /metrics. It speaks OTLP over HTTP and gRPC.
//
// It never sees what was written: the hub hands it ids, names, states, times and counts. It
// stands beside the work. Whatever the collector does, no send waits for it.
package telemetry

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// The protocols.
const (
	Off  = "off"
	HTTP = "http"
	GRPC = "grpc"
)

// Config says where the collector is. The zero value turns everything off.
type Config struct {
	Protocol    string // Off if empty
	Endpoint    string // where the specification expects a collector, on this machine, if empty
	Headers     string // name=value, separated by commas, values as in a URL: what the collector asks for
	Certificate string // a PEM file of the authority that vouches for the collector; the system's if empty
	Version     string // of the program
	Node        string // the coordinator's name among others
}

// On says that something is exported.
func (c Config) On() bool { return c.Protocol == HTTP || c.Protocol == GRPC }

// Parse reads the setting: off, or the protocol, or the collector's address, whose scheme also
// names the protocol: http and https, grpc and grpcs. The rest is in the variables that
// OpenTelemetry has for it. What cannot work is refused.
func Parse(to string, getenv func(string) string) (Config, error) {
	c := Config{
		Protocol: cmp.Or(to, Off), Endpoint: getenv("OTEL_EXPORTER_OTLP_ENDPOINT"),
		Headers: getenv("OTEL_EXPORTER_OTLP_HEADERS"), Certificate: getenv("OTEL_EXPORTER_OTLP_CERTIFICATE"),
	}
	if scheme, rest, isAddress := strings.Cut(to, "://"); isAddress {
		switch scheme {
		case "http", "https":
			c.Protocol, c.Endpoint = HTTP, to
		case "grpc", "grpcs":
			c.Protocol, c.Endpoint = GRPC, strings.Replace(scheme, GRPC, "http", 1)+"://"+rest
		}
	}
	_, err := newSender(c)
	return c, err
}

func newSender(c Config) (*sender, error) {
	s := &sender{grpc: c.Protocol == GRPC}
	switch c.Protocol {
	case "", Off:
		return nil, nil
	case HTTP, GRPC:
	default:
		return nil, c3po.Errorf(c3po.InvalidRequest, "otlp is off, http, grpc or the collector's address").Suggest("Write the address as http://host:4318 or grpc://host:4317.")
	}
	at, err := url.Parse(cmp.Or(c.Endpoint, map[bool]string{true: "http://localhost:4317", false: "http://localhost:4318"}[s.grpc]))
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil || at.RawQuery != "" || s.grpc && strings.Trim(at.Path, "/") != "" {
		return nil, c3po.Errorf(c3po.InvalidRequest, "that is no address of a collector").
			Suggest("Write it as http://host:4318 or grpc://host:4317, and a password into OTEL_EXPORTER_OTLP_HEADERS.")
	}
	s.base = strings.TrimSuffix(at.String(), "/")
	if s.headers, err = readHeaders(c.Headers); err != nil {
		return nil, err
	}
	var roots *x509.CertPool
	if c.Certificate != "" {
		pem, err := os.ReadFile(c.Certificate)
		if err != nil {
			return nil, c3po.Because(err, c3po.InvalidRequest, "the collector's certificate cannot be read").Suggest("Name a PEM file that this user may read.")
		}
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM(pem) {
			return nil, c3po.Errorf(c3po.InvalidRequest, "there is no certificate in %s", c3po.Clip(c.Certificate)).Suggest("Name a PEM file.")
		}
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 1, IdleConnTimeout: idleTimeout,
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, Protocols: &http.Protocols{},
	}
	if s.grpc {
		transport.Protocols.SetHTTP2(true)
		transport.Protocols.SetUnencryptedHTTP2(true)
	} else {
		transport.Protocols.SetHTTP1(true)
		transport.Protocols.SetHTTP2(true)
	}
	s.http = &http.Client{
		Transport: transport,
		// The headers may hold a password, which is for this address alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

// readHeaders reads them as OTEL_EXPORTER_OTLP_HEADERS has them. What is wrong is not repeated:
// it may be a password.
func readHeaders(text string) (http.Header, error) {
	headers := http.Header{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || name == "" || err != nil || strings.ContainsAny(name, " \t\r\n:") || strings.ContainsAny(value, "\r\n\x00") {
			return nil, c3po.Errorf(c3po.InvalidRequest, "the collector's headers are not name=value").Suggest("Separate several with commas; write a comma in a value as %%2C.")
		}
		headers.Set(name, value)
	}
	return headers, nil
}
