package operate

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/clients"
	"github.com/c3po-dev/c3po/internal/host/doctor"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/settings"
)

// formerCredentials is what join keeps.
const formerCredentials = "credentials.json.before-join" // #nosec G101 -- a name

// places are the files and folders that others have no business with, as they
// are now.
func places(a *console.Console) []doctor.Place {
	if runtime.GOOS == "windows" {
		return nil // rights are not in the mode there
	}
	var all []doctor.Place
	add := func(name, what string, secret, own bool) {
		info, err := os.Stat(name)
		if name == "" || err != nil {
			return
		}
		mode := info.Mode()
		sticky := mode&fs.ModeSticky != 0 // others may add to such a folder, and change nothing
		all = append(all, doctor.Place{
			Name: name, What: what, Writable: mode.Perm()&0o002 != 0 && !sticky, Readable: secret && mode.Perm()&0o077 != 0,
			Foreign: own && !paths.OwnedByUs(info),
		})
	}
	program := ownProgram()
	add(program, "the program that hooks start", false, false)
	add(filepath.Dir(program), "the folder of the program", false, false)
	if config, err := a.Folders.ConfigFile(""); err == nil {
		add(filepath.Clean(config), "the folder of credentials and settings", true, true)
		add(filepath.Join(config, formerCredentials), "credentials", true, true)
		add(filepath.Join(config, settings.Name), "the settings", settingsHoldSecrets(a, config), true)
	}
	for _, folder := range a.Folders.Existing() {
		add(folder, "a folder of c3po", true, true)
	}
	for _, c := range clients.All() {
		if i, err := agentside.NewFileInstaller(a, c, agentside.InstallFlags{}); err == nil && i.Plan.Installed() {
			files, _ := c.Files(i.Plan.Place) // that they cannot be read is said elsewhere
			for _, f := range files {
				add(f.Path, "a file of "+c.Title, false, false)
			}
		}
	}
	return all
}

// settingsHoldSecrets says that c3po.yaml holds more than addresses.
func settingsHoldSecrets(a *console.Console, config string) bool {
	text, err := os.ReadFile(filepath.Join(config, settings.Name))
	return err == nil && (strings.Contains(string(text), "@") || strings.Contains(string(text), "notify"))
}

// examineSecurity finds out what is judged only when it is asked for.
func examineSecurity(a *console.Console, cmd *cobra.Command, x *doctor.Exposure) {
	x.Redis = settingHere(a, "redis", "REDIS_URL")
	x.Auth = settingHere(a, "auth", "C3PO_AUTH")
	if token, err := auth.ParseToken(a.Getenv(console.TokenVariable)); err == nil {
		x.Env = append(x.Env, token.Role)
	}
	if former, err := a.Folders.ConfigFile(formerCredentials); err == nil {
		if _, err := os.Stat(former); err == nil {
			x.Former = append(x.Former, former)
		}
	}
	if a.BelowAgent() {
		x.NoList = c3po.Errorf(c3po.Forbidden, "this is for a person to do, and an agent runs here")
		return
	}
	svc, err := a.Person(console.AdminToken)
	if err == nil {
		x.Tokens, err = svc.Tokens(cmd.Context())
	}
	x.NoList = err
}

// settingHere is a setting of coordinators, by the environment or c3po.yaml.
func settingHere(a *console.Console, key, variable string) string {
	if value := a.Getenv(variable); value != "" {
		return value
	}
	value, _ := a.File.Get(key)
	return value.Text
}
