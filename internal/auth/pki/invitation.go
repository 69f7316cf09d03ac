package pki

import (
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// System in place of the hash of an authority says that the coordinator shows a
// certificate the system trusts: its own or its proxy's.
const System = "system"

// An Invitation is what a new host is given: where the coordinator is, how to
// know it, and the proof that it may join.
type Invitation struct {
	Address string // host:port
	Hash    string // of the authority, or System
	Secret  string // one use
	Person  bool   // for who uses the host, not for its agents
}

const (
	scheme = "c3po://"
	// forPerson ends an invitation that is not for a host's agents. No secret has a plus.
	forPerson = "+person"
)

var (
	hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?(\.[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?)*$`)
	hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
	// A key id of 12 characters, a hyphen, and at least the 43 of 32 random bytes.
	secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]{56,128}$`)
	cutForm    = regexp.MustCompile(`^([0-9a-f]{0,64}|system)(-[A-Za-z0-9_-]{0,55})?$`)
)

// ParseInvitation reads c3po://HOST:PORT/<hash>-<secret>, and nothing that is
// only like it: people paste these, and shells get to see them.
func ParseInvitation(text string) (Invitation, error) {
	wrong := c3po.Errorf(c3po.InvalidRequest, "this is not an invitation").
		Suggest("It has the form c3po://HOST:PORT/HASH-SECRET; copy it whole from `c3po invite`.")
	text, person := strings.CutSuffix(text, forPerson)
	inside, ok := strings.CutPrefix(text, scheme)
	if !ok {
		return Invitation{}, wrong
	}
	address, proof, _ := strings.Cut(inside, "/")
	if IsAddress(address) && cutForm.MatchString(proof) {
		return Invitation{}, c3po.Errorf(c3po.InvalidRequest, "this invitation is cut off: its end is missing").
			Suggest("Copy it whole from `c3po invite`; a terminal may have broken it into two lines.")
	}
	hash, secret, _ := strings.Cut(proof, "-")
	if !IsAddress(address) || (hash != System && !hashForm.MatchString(hash)) || !secretForm.MatchString(secret) {
		return Invitation{}, wrong
	}
	return Invitation{Address: address, Hash: hash, Secret: secret, Person: person}, nil
}

// String is the invitation as it is handed over, the secret included.
func (i Invitation) String() string {
	text := scheme + i.Address + "/" + i.Hash + "-" + i.Secret
	if i.Person {
		text += forPerson
	}
	return text
}

// URL is where the coordinator is.
func (i Invitation) URL() string { return "https://" + i.Address }

// IsAddress says whether text is a host and a port that others can be told to
// connect to.
func IsAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil || net.JoinHostPort(host, port) != text {
		return false
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 || strconv.FormatUint(number, 10) != port {
		return false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Zone() == "" && !ip.IsUnspecified()
	}
	return isHostName(strings.ToLower(host))
}

func isHostName(name string) bool { return len(name) <= 253 && hostName.MatchString(name) }
