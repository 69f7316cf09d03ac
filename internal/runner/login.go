package runner

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// loginVariable holds what Claude Code is logged in with.
const loginVariable = "CLAUDE_CODE_OAUTH_TOKEN" // #nosec G101 -- a name

// keyVariables also let Claude Code in, by a key or by a gateway that asks for
// none.
var keyVariables = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"}

// gatewayVariable is where such a key is good.
const gatewayVariable = "ANTHROPIC_BASE_URL"

// A login is what the program in a container is let in with: a variable, or a
// file that is mounted.
type login struct {
	env  []variable
	file string // the person's credentials, mounted read-only
}

// login finds it in the order of claude-docker: the environment, the token that
// setup has stored, the credentials of the person. Agents of other programs bring
// their own, in their env.
func (r *Runner) login(agent agentfile.Agent) (login, error) {
	if agent.Client != "" && agent.Client != agentfile.DefaultClient {
		return login{}, nil
	}
	if token := strings.TrimSpace(r.cfg.Getenv(loginVariable)); token != "" {
		return login{env: []variable{{loginVariable, token}}}, nil
	}
	if slices.ContainsFunc(agent.Env, func(own agentfile.Variable) bool { return slices.Contains(keyVariables, own.Name) }) {
		return login{}, nil
	}
	for _, name := range keyVariables {
		if value := r.cfg.Getenv(name); value != "" {
			in := login{env: []variable{{name, value}}}
			if gateway := r.cfg.Getenv(gatewayVariable); gateway != "" {
				in.env = append(in.env, variable{gatewayVariable, gateway})
			}
			return in, nil
		}
	}
	text, err := os.ReadFile(r.cfg.Places.Login)
	if token := strings.TrimSpace(string(text)); err == nil && token != "" {
		return login{env: []variable{{loginVariable, token}}}, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return login{}, c3po.Because(err, c3po.InvalidRequest, "cannot read "+r.cfg.Places.Login).Suggest("Check who owns it.")
	}
	if info, err := os.Stat(r.cfg.Places.Personal); err == nil && info.Mode().IsRegular() {
		return login{file: r.cfg.Places.Personal}, nil
	}
	return login{}, c3po.Errorf(c3po.InvalidRequest, "Claude Code has nothing to log in with").
		Suggest("Run `c3po agent setup`, or set %s.", loginVariable)
}

// StoreLogin keeps a token for later runs, readable by its owner alone.
func (r *Runner) StoreLogin(token string) error {
	token = strings.TrimSpace(token)
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return c3po.Errorf(c3po.InvalidRequest, "this is not a token").Suggest("Paste what `claude setup-token` has printed, alone.")
	}
	if err := r.prepare(); err != nil {
		return err
	}
	if err := paths.WriteFile(r.cfg.Places.Login, []byte(token+"\n")); err != nil {
		return cannotMake(r.cfg.Places.Login, err)
	}
	return nil
}
