package operate

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/server"
)

// outside are the settings of a coordinator that other machines reach.
type outside struct {
	names   []string
	tls     string
	cert    string
	key     string
	proxies []string
}

func (o *outside) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&o.names, "name", nil, "host name or address others call it by, besides the one it listens on; several, separated by commas")
	flags.StringVar(&o.tls, "tls", server.TLSAuto, "auto encrypts wherever other machines can reach it; on; off")
	flags.StringVar(&o.cert, "tls-cert", "", "your certificate, a PEM file; default: one that c3po creates")
	flags.StringVar(&o.key, "tls-key", "", "its key, a PEM file")
	flags.StringSliceVar(&o.proxies, "trusted-proxy", nil, "addresses (CIDR) of a proxy whose X-Forwarded headers count")
	console.Setting(flags, "name", "C3PO_NAME", "name")
	console.Setting(flags, "tls", "C3PO_TLS", "tls")
	console.Setting(flags, "tls-cert", "C3PO_TLS_CERT", "tls_cert")
	console.Setting(flags, "tls-key", "C3PO_TLS_KEY", "tls_key")
	console.Setting(flags, "trusted-proxy", "C3PO_TRUSTED_PROXY", "trusted_proxy")
}

func (o *outside) variables() []string {
	return []string{
		"C3PO_NAME=" + strings.Join(o.names, ","),
		"C3PO_TLS=" + o.tls,
		"C3PO_TLS_CERT=" + o.cert,
		"C3PO_TLS_KEY=" + o.key,
		"C3PO_TRUSTED_PROXY=" + strings.Join(o.proxies, ","),
	}
}

func (o *outside) check() error {
	if err := console.OneOf(server.TLSAuto, server.TLSOn, server.TLSOff)(cmp.Or(o.tls, server.TLSAuto)); err != nil {
		return console.BadUsage(fmt.Sprintf("there is no TLS setting %q: %v", o.tls, err), "Leave it out: auto encrypts wherever other machines can reach the coordinator.")
	}
	if (o.cert == "") != (o.key == "") {
		return console.BadUsage("a certificate and its key go together", "Give both --tls-cert and --tls-key.")
	}
	_, err := o.prefixes()
	return err
}

func (o *outside) prefixes() ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range o.proxies {
		prefix, err := netip.ParsePrefix(text)
		if one, wrong := netip.ParseAddr(text); wrong == nil {
			prefix, err = one.Prefix(one.BitLen())
		}
		if err != nil {
			return nil, console.BadUsage(fmt.Sprintf("--trusted-proxy %s is not a range of addresses", text), "Write it as 10.0.0.0/8, or as one address.")
		}
		all = append(all, prefix)
	}
	return all, nil
}

// into puts the settings into those of the coordinator. check has seen them.
func (o *outside) into(cfg *server.Config) {
	cfg.Names, cfg.TLS, cfg.TLSCert, cfg.TLSKey = o.names, cmp.Or(o.tls, server.TLSAuto), o.cert, o.key
	cfg.TrustedProxies, _ = o.prefixes()
}
