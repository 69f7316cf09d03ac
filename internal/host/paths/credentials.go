package paths

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// Credentials are what the agents of this user prove themselves with, to the
// coordinator at URL.
type Credentials struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	// Runner is the token of a runner, of a host that was invited with one.
	Runner string `json:"runner,omitempty"`
	CA     string `json:"ca,omitempty"`   // PEM; what the coordinator proves itself with
	Host   string `json:"host,omitempty"` // the name under which this host has joined
	// Also are where further coordinators of this user are, on the same Redis.
	Also []string `json:"also,omitempty"`
	// Sockets are where this user's own coordinators listen as well, by their
	// addresses: at the address alone anybody on this machine may listen.
	Sockets map[string]string `json:"sockets,omitempty"`
	// Unproved is a token for one run of a container. It is sent to a loopback
	// address although nothing proves who listens: a container has no socket of ours.
	Unproved bool `json:"unproved,omitempty"`
}

// SocketOf is the socket of the coordinator at an address; empty if none is known.
func (c Credentials) SocketOf(address string) string { return socketOf(c.Sockets, address) }

// OwnHost says that they are for a coordinator of this host, not for one that it has
// joined.
func (c Credentials) OwnHost() bool { return c.Host == "" }

// For says that these are the credentials for the coordinator at an address.
func (c Credentials) For(address string) bool { return among(address, c.URL, c.Also) }

// Person are the credentials of the person who uses this machine. They are in a
// file of their own because agents have no business with them.
type Person struct {
	URL   string   `json:"url"`
	CA    string   `json:"ca,omitempty"` // as in Credentials
	Human string   `json:"human"`
	Admin string   `json:"admin"`
	Also  []string `json:"also,omitempty"` // as in Credentials

	Sockets map[string]string `json:"sockets,omitempty"` // as in Credentials
}

// OwnHost says that they are for a coordinator of this host, whose user is its admin,
// not for one on another host where the person has signed in.
func (p Person) OwnHost() bool { return p.Admin != "" || p.Human == "" }

// SocketOf is the socket of the coordinator at an address; empty if none is known.
func (p Person) SocketOf(address string) string { return socketOf(p.Sockets, address) }

func socketOf(sockets map[string]string, address string) string {
	for known, socket := range sockets {
		if SameAddress(known, address) {
			return socket
		}
	}
	return ""
}

// SameAddress says that two addresses are of one coordinator.
func SameAddress(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

// For says that these are the credentials for the coordinator at an address.
func (p Person) For(address string) bool { return among(address, p.URL, p.Also) }

func among(address, first string, more []string) bool {
	return slices.ContainsFunc(append([]string{first}, more...), func(known string) bool {
		return SameAddress(known, address)
	})
}

const (
	credentialsName = "credentials.json"
	personName      = "person.json"
)

// ReadCredentials reads those in a config folder; nil if there are none.
func ReadCredentials(config string) (*Credentials, error) {
	return readPrivate[Credentials](filepath.Join(config, credentialsName))
}

// Write stores the credentials. A reader sees the old ones or the new ones.
func (c Credentials) Write(config string) error {
	return writePrivate(filepath.Join(config, credentialsName), c)
}

// ReadPerson reads those in a config folder; nil if there are none.
func ReadPerson(config string) (*Person, error) {
	return readPrivate[Person](filepath.Join(config, personName))
}

// Write stores the credentials. A reader sees the old ones or the new ones.
func (p Person) Write(config string) error {
	return writePrivate(filepath.Join(config, personName), p)
}

// Credentials are those of this user; nil if there are none. Unlike Config it
// makes no folder: looking leaves no trace.
func (f Folders) Credentials() (*Credentials, error) {
	config, err := f.base("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return nil, err
	}
	return ReadCredentials(config)
}

// Person are the person's; nil if there are none.
func (f Folders) Person() (*Person, error) {
	config, err := f.base("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return nil, err
	}
	return ReadPerson(config)
}

// own is the end of the name of a host's own credentials while it is another
// coordinator's.
const own = ".own"

// SetAsideOwn keeps the credentials for this host's own coordinator for the time that it
// is another's, so that commands go there alone, and says whether there were any.
func SetAsideOwn(config string) (kept bool, err error) {
	agents, err := ReadCredentials(config)
	if err != nil {
		return false, err
	}
	person, err := ReadPerson(config)
	if err != nil {
		return false, err
	}
	for name, is := range map[string]bool{credentialsName: agents != nil && agents.OwnHost(), personName: person != nil && person.OwnHost()} {
		if !is {
			continue
		}
		if err := os.Rename(filepath.Join(config, name), filepath.Join(config, name+own)); err != nil {
			return kept, err
		}
		kept = true
	}
	return kept, nil
}

// RestoreOwn takes back what SetAsideOwn has done, and says whether there was anything.
func RestoreOwn(config string) (restored bool, err error) {
	for _, name := range []string{credentialsName, personName} {
		err := os.Rename(filepath.Join(config, name+own), filepath.Join(config, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return restored, err
		}
		restored = restored || err == nil
	}
	return restored, nil
}

func readPrivate[T any](name string) (*T, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	value := new(T)
	if err == nil {
		err = json.Unmarshal(data, value)
	}
	if err != nil {
		// What json says of a text can hold a part of it.
		return nil, c3po.Because(err, c3po.InvalidRequest, "cannot read "+name).
			Suggest("Remove the file and run `c3po up`, or `c3po join` again.")
	}
	return value, nil
}

func writePrivate(name string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := WriteFile(name, append(data, '\n')); err != nil {
		return c3po.Errorf(c3po.InvalidRequest, "cannot write %s: %w", name, err).Suggest("Check who owns its folder.")
	}
	return nil
}
