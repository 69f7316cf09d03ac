package operate

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/settings"
)

// A configured setting is one row of config.
type configured struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Variable string `json:"variable,omitempty"`
	console.Origin
}

// A configuration is what config prints as JSON.
type configuration struct {
	File     string       `json:"file"`
	Exists   bool         `json:"exists"`
	Settings []configured `json:"settings"`
	Limits   []configured `json:"limits"`
}

func Config(a *console.Console) *cobra.Command {
	var c coordinator
	var h hookSettings
	var timeout int
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings that hold here, and where each comes from",
		Long: `Show the settings that hold here, and where each comes from: a flag, a variable of
the environment, c3po.yaml in the folder of settings, or the default, in this
order. Passwords and tokens are masked. In c3po.yaml each name is on its own
line with its value. Limits are indented under limits:, and a name with a full stop
under its first part.`,
		Example: `  c3po config
  c3po config --listen 127.0.0.1:9000 --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.check(a); err != nil {
				return err
			}
			shown, err := configurationOf(a, cmd, c)
			if err != nil {
				return err
			}
			return a.Show(shown, shown.print)
		},
	}
	c.flags(cmd)
	h.flags(cmd)
	console.WaitFlag(cmd.Flags(), &timeout)
	return cmd
}

func configurationOf(a *console.Console, cmd *cobra.Command, c coordinator) (configuration, error) {
	path, err := a.Folders.ConfigFile(settings.Name)
	if err != nil {
		return configuration{}, err
	}
	all := configuration{File: path, Exists: a.File != nil}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Annotations[console.VariableOf] == nil || limitOf(f) != "" {
			return
		}
		all.Settings = append(all.Settings, configured{
			Name: nameOf(f), Value: discreet(f), Variable: f.Annotations[console.VariableOf][0], Origin: a.Origins[f.Name],
		})
	})
	found, err := discoverSettings(a)
	if err != nil {
		return configuration{}, err
	}
	all.Settings = append(all.Settings, found...)
	slices.SortFunc(all.Settings, func(x, y configured) int { return strings.Compare(x.Name, y.Name) })
	all.Limits = limitRows(a, cmd, c)
	return all, nil
}

// nameOf is what a setting is called in the file.
func nameOf(f *pflag.Flag) string {
	if key := f.Annotations[console.KeyOf]; key != nil && strings.Contains(key[0], ".") {
		return key[0]
	}
	return strings.ReplaceAll(f.Name, "-", "_")
}

// discreet is the value of a setting without what is secret in it.
func discreet(f *pflag.Flag) string {
	value := valueOf(f)
	switch {
	case value == "":
		return ""
	case f.Name != "redis" && console.IsSecret(f): // of that one, all but the password is shown
		return "****"
	case f.Name == "notify-ntfy" || f.Name == "notify-webhook":
		// Who knows the path can write there, or read.
		if at, err := url.Parse(value); err == nil && at.Host != "" {
			return at.Scheme + "://" + at.Host + "/****"
		}
		return "****"
	default:
		return maskPasswords(value)
	}
}

// valueOf is the value of a flag in the form that the flag takes.
func valueOf(f *pflag.Flag) string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return strings.Join(list.GetSlice(), ",")
	}
	return f.Value.String()
}

// limitOf is the limit a flag sets, if it does.
func limitOf(f *pflag.Flag) string {
	if key := f.Annotations[console.KeyOf]; key != nil {
		if name, isLimit := strings.CutPrefix(key[0], "limits."); isLimit {
			return name
		}
	}
	return ""
}

func limitRows(a *console.Console, cmd *cobra.Command, c coordinator) []configured {
	limits := c.limits(a)
	rows := map[string]configured{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if name := limitOf(f); name != "" {
			rows[name] = configured{Variable: f.Annotations[console.VariableOf][0], Origin: a.Origins[f.Name]}
		}
	})
	var all []configured
	for _, name := range settings.LimitNames() {
		row, isFlag := rows[name]
		if !isFlag {
			row.Origin = console.Origin{From: console.FromDefault}
			if value, set := a.File.Get("limits." + name); set {
				row.Origin = console.Origin{From: console.FromFile, Where: fmt.Sprintf("%s:%d", a.File.Path, value.Line)}
			}
		}
		row.Name, row.Value = name, settings.LimitText(limits, name)
		all = append(all, row)
	}
	return all
}

// discoverSettings is what the commands find out by themselves: where the coordinator is,
// and the token.
func discoverSettings(a *console.Console) ([]configured, error) {
	reach, err := a.Reach()
	if err != nil {
		return nil, err
	}
	note, err := a.Folders.Coordinator()
	if err != nil {
		return nil, err
	}
	token := configured{Name: "token", Variable: console.TokenVariable, Origin: console.Origin{From: console.FromDefault}}
	switch {
	case a.Getenv(console.TokenVariable) != "":
		token.Origin = console.Origin{From: console.FromVariable, Where: console.TokenVariable}
	case reach.Socket != "":
		token.Origin = console.Origin{From: "not needed", Where: "the socket of the coordinator of this user"}
	case reach.Token != "":
		credentials, err := a.Folders.ConfigFile("credentials.json")
		if err != nil {
			return nil, err
		}
		token.Origin = console.Origin{From: console.FromFile, Where: credentials}
	}
	if reach.Token != "" && reach.Socket == "" {
		token.Value = maskedToken(reach.Token)
	}
	rows := []configured{token}
	if a.URL == "" && reach.URL != "" {
		where := "the coordinator this host has joined"
		if note != nil && note.URL == reach.URL {
			where = "the coordinator that runs here"
		}
		rows = append(rows, configured{Name: "url_found", Value: maskPasswords(reach.URL), Origin: console.Origin{From: "found", Where: where}})
	}
	return rows, nil
}

// maskPasswords hides the passwords in addresses.
func maskPasswords(value string) string {
	parts := strings.Split(value, ",")
	for i, part := range parts {
		at, err := url.Parse(part)
		switch {
		case err != nil && strings.Contains(part, "@"):
			parts[i] = "****" // something with a password that we cannot read
		case err == nil && at.User != nil:
			at.User = url.UserPassword("****", "****")
			parts[i] = strings.ReplaceAll(at.String(), "%2A", "*")
		}
	}
	return strings.Join(parts, ",")
}

// maskedToken keeps the kind of a token, which is no secret.
func maskedToken(token string) string {
	if end := strings.LastIndexByte(token, '_'); end > 0 && strings.HasPrefix(token, "c3po_") {
		if second := strings.IndexByte(token[5:], '_'); second > 0 {
			return token[:5+second+1] + "****"
		}
	}
	return "****"
}

func (c configuration) print(w io.Writer) {
	state := ""
	if !c.Exists {
		state = " (not there)"
	}
	fmt.Fprintf(w, "file: %s%s\n\n", console.Inline(c.File), state)
	console.Table(w, func(row func(...string)) {
		row("SETTING", "VALUE", "FROM")
		for _, s := range c.Settings {
			row(console.Inline(s.Name), console.Inline(cmp.Or(s.Value, "-")), words(s.Origin))
		}
		row("limits:")
		for _, s := range c.Limits {
			row("  "+s.Name, console.Inline(s.Value), words(s.Origin))
		}
	})
}

// words leave the folder of a file out, which stands above the table.
func words(o console.Origin) string {
	switch {
	case o.Where == "":
		return o.From
	case o.From == console.FromFile:
		return "file " + console.Inline(filepath.Base(o.Where))
	default:
		return o.From + " " + console.Inline(o.Where)
	}
}
