package console

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/settings"
)

// The annotations of a flag that is a setting, and of a command that needs none.
const (
	VariableOf = "variable"
	KeyOf      = "key"
	noSettings = "no settings"
)

// Setting gives a flag a variable of the environment and, unless that is empty,
// a key in c3po.yaml. The flag beats the variable, which beats the file.
func Setting(flags *pflag.FlagSet, flag, variable, key string) {
	f := flags.Lookup(flag)
	f.Usage += " (" + variable + ")"
	f.Annotations = map[string][]string{VariableOf: {variable}}
	if key != "" {
		f.Annotations[KeyOf] = []string{key}
	}
}

// WithoutSettings marks a command that must work whatever c3po.yaml says.
func WithoutSettings(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{noSettings: "yes"}
	return cmd
}

// An Origin is where the value of a setting came from.
type Origin struct {
	From  string `json:"from"`            // flag, variable, file or default
	Where string `json:"where,omitempty"` // which flag, which variable, which line of which file
}

const (
	FromFlag     = "flag"
	FromVariable = "variable"
	FromFile     = "file"
	FromDefault  = "default"
)

// Settle sets the flags that were not given, from the environment and from
// c3po.yaml.
func (a *Console) Settle(cmd *cobra.Command, _ []string) error {
	a.ended = cmd.Context().Done()
	if IsReserved(cmd) {
		if err := a.RefuseAgents(); err != nil {
			return err
		}
	}
	if err := a.readFile(cmd); err != nil {
		return err
	}
	a.Origins = map[string]Origin{}
	var wrong error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if wrong == nil && f.Annotations[VariableOf] != nil {
			a.Origins[f.Name], wrong = a.settleFlag(cmd.Flags(), f)
			a.warnOfSecret(f)
		}
	})
	if wrong == nil && a.URL != "" {
		if at, err := url.Parse(a.URL); err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
			return BadUsage(fmt.Sprintf("%q is not the address of a coordinator", a.URL), "Write it as https://HOST:PORT. It comes from "+cmp.Or(a.Origins["url"].Where, "--url")+".")
		}
	}
	return wrong
}

// warnOfSecret says that everybody on this machine can read what was given as an
// argument.
func (a *Console) warnOfSecret(f *pflag.Flag) {
	if IsSecret(f) && a.Origins[f.Name].From == FromFlag {
		a.Warn("others on this machine can read the secret in --"+f.Name, "Set "+f.Annotations[VariableOf][0]+" instead, or write it in c3po.yaml.")
	}
}

func (a *Console) settleFlag(flags *pflag.FlagSet, f *pflag.Flag) (Origin, error) {
	if f.Changed {
		return Origin{FromFlag, "--" + f.Name}, nil
	}
	variable := f.Annotations[VariableOf][0]
	if value := a.Getenv(variable); value != "" {
		if err := flags.Set(f.Name, value); err != nil {
			return Origin{}, BadUsage(fmt.Sprintf("%s=%s is not what --%s takes", variable, value, f.Name), "Unset it, or give the flag.")
		}
		return Origin{FromVariable, variable}, nil
	}
	if key := f.Annotations[KeyOf]; key != nil {
		if value, set := a.File.Get(key[0]); set && value.Text != "" {
			where := fmt.Sprintf("%s:%d", a.File.Path, value.Line)
			if err := flags.Set(f.Name, value.Text); err != nil {
				return Origin{}, BadUsage(fmt.Sprintf("%s: %s: %s is not what --%s takes", where, key[0], value.Text, f.Name), "Correct the line, or give the flag.")
			}
			return Origin{FromFile, where}, nil
		}
	}
	return Origin{From: FromDefault}, nil
}

// readFile reads c3po.yaml for a command that needs settings.
func (a *Console) readFile(cmd *cobra.Command) error {
	for c := cmd; c != nil; c = c.Parent() {
		if c.Annotations[noSettings] != "" {
			return nil
		}
	}
	path, err := a.Folders.ConfigFile(settings.Name)
	if err != nil {
		return nil // without a home there is no file; who needs the home says so
	}
	a.File, err = settings.Read(path, FileKeys(cmd.Root()))
	if e, ok := errors.AsType[*c3po.Error](err); ok {
		return BadUsage(e.Message, cmp.Or(elsewhereThanFile(cmd.Root(), e.Message), e.Suggestion))
	}
	return err
}

var noSuchSetting = regexp.MustCompile(`there is no setting "([a-z_]+)"$`)

// elsewhereThanFile says how something is set that is a setting, but not one of the file;
// empty if it is none.
func elsewhereThanFile(root *cobra.Command, refusal string) (hint string) {
	name := noSuchSetting.FindStringSubmatch(refusal)
	if name == nil {
		return ""
	}
	visitFlags(root, func(f *pflag.Flag) {
		if variable := f.Annotations[VariableOf]; variable != nil && f.Annotations[KeyOf] == nil && f.Name == strings.ReplaceAll(name[1], "_", "-") {
			hint = fmt.Sprintf("It is not set in this file, which is for all your agents. Give --%s, or set %s.", f.Name, variable[0])
		}
	})
	return hint
}

// FileKeys are the keys of all settings, beside the limits.
func FileKeys(root *cobra.Command) []string {
	var keys []string
	seen := map[string]bool{}
	visitFlags(root, func(f *pflag.Flag) {
		key := f.Annotations[KeyOf]
		if key != nil && !seen[key[0]] && !strings.HasPrefix(key[0], "limits.") {
			seen[key[0]] = true
			keys = append(keys, key[0])
		}
	})
	return keys
}

func visitFlags(cmd *cobra.Command, visit func(*pflag.Flag)) {
	cmd.PersistentFlags().VisitAll(visit)
	cmd.Flags().VisitAll(visit)
	for _, child := range cmd.Commands() {
		visitFlags(child, visit)
	}
}

// IsSecret says that the value of a setting is one, or holds a password.
func IsSecret(f *pflag.Flag) bool {
	switch f.Name {
	case "notify-secret", "hooks-github", "hooks-gitlab":
		return true
	case "redis":
		at, err := url.Parse(f.Value.String())
		if err != nil || at.User == nil {
			return false
		}
		_, has := at.User.Password()
		return has
	default:
		return false
	}
}
