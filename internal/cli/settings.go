package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/host/settings"
)

// The annotations of a flag that is a setting, and of a command that needs none.
const (
	variableOf = "variable"
	keyOf      = "key"
	noSettings = "no settings"
)

// setting gives a flag a variable of the environment and, unless that is empty,
// a key in c3po.yaml. The flag beats the variable, which beats the file.
func setting(flags *pflag.FlagSet, flag, variable, key string) {
	f := flags.Lookup(flag)
	f.Usage += " (" + variable + ")"
	f.Annotations = map[string][]string{variableOf: {variable}}
	if key != "" {
		f.Annotations[keyOf] = []string{key}
	}
}

// withoutSettings marks a command that must work whatever c3po.yaml says.
func withoutSettings(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{noSettings: "yes"}
	return cmd
}

// An origin is where the value of a setting came from.
type origin struct {
	From  string `json:"from"`            // flag, variable, file or default
	Where string `json:"where,omitempty"` // which flag, which variable, which line of which file
}

const (
	fromFlag     = "flag"
	fromVariable = "variable"
	fromFile     = "file"
	fromDefault  = "default"
)

// settle sets the flags that were not given, from the environment and from
// c3po.yaml.
func (a *app) settle(cmd *cobra.Command, _ []string) error {
	if isReserved(cmd) {
		if err := a.refuseAgents(); err != nil {
			return err
		}
	}
	if err := a.readFile(cmd); err != nil {
		return err
	}
	a.origins = map[string]origin{}
	var wrong error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if wrong == nil && f.Annotations[variableOf] != nil {
			a.origins[f.Name], wrong = a.settleFlag(cmd.Flags(), f)
			a.warnOfSecret(f)
		}
	})
	if wrong == nil && a.url != "" {
		if at, err := url.Parse(a.url); err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
			return &usageError{fmt.Sprintf("%q is not the address of a coordinator", a.url), "Write it as https://HOST:PORT. It comes from " + cmp.Or(a.origins["url"].Where, "--url") + "."}
		}
	}
	return wrong
}

// warnOfSecret says that everybody on this machine can read what was given as an
// argument.
func (a *app) warnOfSecret(f *pflag.Flag) {
	if isSecret(f) && a.origins[f.Name].From == fromFlag {
		a.complain("others on this machine can read the secret in --"+f.Name, "Set "+f.Annotations[variableOf][0]+" instead, or write it in c3po.yaml.")
	}
}

func (a *app) settleFlag(flags *pflag.FlagSet, f *pflag.Flag) (origin, error) {
	if f.Changed {
		return origin{fromFlag, "--" + f.Name}, nil
	}
	variable := f.Annotations[variableOf][0]
	if value := a.Getenv(variable); value != "" {
		if err := flags.Set(f.Name, value); err != nil {
			return origin{}, &usageError{fmt.Sprintf("%s=%s is not what --%s takes", variable, value, f.Name), "Unset it, or give the flag."}
		}
		return origin{fromVariable, variable}, nil
	}
	if key := f.Annotations[keyOf]; key != nil {
		if value, set := a.file.Get(key[0]); set && value.Text != "" {
			where := fmt.Sprintf("%s:%d", a.file.Path, value.Line)
			if err := flags.Set(f.Name, value.Text); err != nil {
				return origin{}, &usageError{fmt.Sprintf("%s: %s: %s is not what --%s takes", where, key[0], value.Text, f.Name), "Correct the line, or give the flag."}
			}
			return origin{fromFile, where}, nil
		}
	}
	return origin{From: fromDefault}, nil
}

// readFile reads c3po.yaml for a command that needs settings.
func (a *app) readFile(cmd *cobra.Command) error {
	for c := cmd; c != nil; c = c.Parent() {
		if c.Annotations[noSettings] != "" {
			return nil
		}
	}
	path, err := a.folders.ConfigFile(settings.Name)
	if err != nil {
		return nil // without a home there is no file; who needs the home says so
	}
	a.file, err = settings.Read(path, fileKeys(cmd.Root()))
	if e, ok := errors.AsType[*c3po.Error](err); ok {
		return &usageError{e.Message, e.Suggestion}
	}
	return err
}

// fileKeys are the keys of all settings, beside the limits.
func fileKeys(root *cobra.Command) []string {
	var keys []string
	seen := map[string]bool{}
	visitFlags(root, func(f *pflag.Flag) {
		key := f.Annotations[keyOf]
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

// isSecret says that the value of a setting is one, or holds a password.
func isSecret(f *pflag.Flag) bool {
	switch f.Name {
	case "notify-secret":
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
