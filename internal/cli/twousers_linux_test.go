package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A user of the machine, with a home of its own.
type user struct {
	t    *testing.T
	id   uint32
	home string
	bin  string
}

// run runs a command line of a shell as the user.
func (u user) run(stdin, line string) (string, bool) {
	u.t.Helper()
	cmd := exec.CommandContext(u.t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Stdin = u.home, strings.NewReader(stdin)
	cmd.Env = []string{"HOME=" + u.home, "PATH=" + u.bin + ":" + os.Getenv("PATH"), "TMPDIR=" + u.home, "C3PO_LISTEN=127.0.0.1:0", topVariable + "=" + os.Getenv(topVariable), "GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.id, Gid: u.id, NoSetGroups: false}}
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func (u user) must(stdin, line string) string {
	u.t.Helper()
	out, ok := u.run(stdin, line)
	if !ok {
		u.t.Fatalf("%s: %s", line, out)
	}
	return out
}

// twoUsers are the one whose coordinator runs and the one whose agents do.
func twoUsers(t *testing.T) (keeper, agents user) {
	t.Helper()
	params(t) // skips where there is no Redis
	if os.Getuid() != 0 {
		t.Skip("only root can be two users")
	}
	dir, err := os.MkdirTemp("/tmp", "c3u") // short, for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	// #nosec G302 -- both users run the program in it
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := copyProgram(filepath.Join(dir, "c3po")); err != nil {
		t.Fatal(err)
	}
	make := func(name string, id uint32) user {
		home := filepath.Join(dir, name)
		// As many systems make them: what keeps others out is in c3po's own folders.
		// #nosec G301 -- see above
		if err := os.Mkdir(home, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(home, 0o755); err != nil { // #nosec G302 -- see above
			t.Fatal(err)
		}
		if err := os.Chown(home, int(id), int(id)); err != nil {
			t.Fatal(err)
		}
		return user{t, id, home, dir}
	}
	return make("keeper", 64101), make("agents", 64102)
}

// copyProgram puts this binary, which is c3po under that name, where others may
// run it.
func copyProgram(name string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o755) // #nosec G302 -- a program
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	return to.Close()
}

func TestWithTwoUsersNoAgentReachesThePersonsSide(t *testing.T) {
	t.Parallel()
	keeper, agents := twoUsers(t)
	keeper.must("", "c3po up --tls on --name localhost")
	t.Cleanup(func() {
		cmd := exec.Command(filepath.Join(keeper.bin, "c3po"), "down")
		cmd.Env = []string{"HOME=" + keeper.home, "PATH=" + os.Getenv("PATH"), topVariable + "=" + os.Getenv(topVariable), "GORACE=atexit_sleep_ms=0"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: keeper.id, Gid: keeper.id}}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("c3po down: %v %s", err, out)
		}
	})
	var invited struct {
		Invitation string `json:"invitation"`
	}
	if err := json.Unmarshal([]byte(keeper.must("", "c3po invite --host desk --json")), &invited); err != nil {
		t.Fatal(err)
	}
	agents.must(invited.Invitation+"\n", "c3po join - --no-install")
	agents.must("", "c3po register --as api")
	keeper.must("", "c3po send desk/api 'for the agent' --as boss")
	if out := agents.must("", "c3po inbox --as api"); !strings.Contains(out, "for the agent") {
		t.Fatalf("the agent reads %s", out)
	}
	agents.must("", "c3po ask-human 'May I drop the table?' --as api")
	keeper.must("", "c3po register --as secretary && c3po send secretary 'not for the agent' --as boss")

	state := filepath.Join(keeper.home, ".local", "state", "c3po")
	config := filepath.Join(keeper.home, ".config", "c3po")
	var note struct {
		URL      string `json:"url"`
		Socket   string `json:"socket"`
		Redis    string `json:"redis_socket"`
		PID      int    `json:"pid"`
		RedisPID int    `json:"redis_pid"`
	}
	text, err := os.ReadFile(filepath.Join(state, "coordinator.json"))
	if err != nil || json.Unmarshal(text, &note) != nil || note.PID == 0 || note.RedisPID == 0 {
		t.Fatalf("the note is %s, %v", text, err)
	}
	token := `"$(sed -n 's/.*"token": "\(.*\)".*/\1/p' .config/c3po/credentials.json)"`
	https := "curl -sfk -H 'Content-Type: application/json' -H \"Authorization: Bearer \"" + token
	for what, line := range map[string]string{
		"the person's tokens":          "cat " + filepath.Join(config, "person.json"),
		"the tokens of its agents":     "cat " + filepath.Join(config, "credentials.json"),
		"the mail files":               "ls " + filepath.Join(state, "redis", "appendonlydir"),
		"the password of Redis":        "cat " + filepath.Join(state, "redis", "password.conf"),
		"Redis":                        "curl -s --max-time 5 --unix-socket " + note.Redis + " http://localhost/",
		"the coordinator's socket":     "curl -sf --max-time 5 --unix-socket " + note.Socket + " http://localhost/livez",
		"the coordinator's log":        "cat " + filepath.Join(state, "coordinator.log"),
		"the coordinator's variables":  fmt.Sprintf("cat /proc/%d/environ", note.PID),
		"the coordinator's memory":     fmt.Sprintf("head -c 1 /proc/%d/mem", note.PID),
		"the files Redis has open":     fmt.Sprintf("ls /proc/%d/fd/", note.RedisPID),
		"a signal to the coordinator":  fmt.Sprintf("kill -0 %d", note.PID),
		"a signal to Redis":            fmt.Sprintf("kill -0 %d", note.RedisPID),
		"the person's command":         "c3po human answer $(c3po tickets --as api --json | sed -n 's/.*\"message_id\":\"\\(api::human[^\"]*\\)\".*/\\1/p') yes",
		"the person's command, by url": "c3po human list --url " + note.URL,
		"tokens":                       "c3po token list",
		"the person's questions":       https + " -d '{}' " + note.URL + "/api/op/human_list",
		"the person's name":            https + " -H 'X-Agent-ID: human' -d '{}' " + note.URL + "/api/op/get_messages",
		"another host's name":          https + " -H 'X-Agent-ID: other/secretary' -d '{}' " + note.URL + "/api/op/get_messages",
		"the audit":                    https + " " + note.URL + "/api/admin/audit",
	} {
		if out, ok := agents.run("", line); ok || strings.Contains(out, "not for the agent") {
			t.Errorf("the agents' user gets %s: %s", what, out)
		}
	}
	// The same ways are open to the one it all belongs to, so they are the right ones.
	for _, line := range []string{
		"cat " + filepath.Join(config, "person.json"), "curl -sf --unix-socket " + note.Socket + " http://localhost/livez", fmt.Sprintf("kill -0 %d", note.PID), "c3po token list",
	} {
		keeper.must("", line)
	}
	if out := keeper.must("", "c3po human list"); !strings.Contains(out, "May I drop the table?") {
		t.Errorf("the person has these questions: %s", out)
	}
	if args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", note.RedisPID)); err != nil || bytes.Contains(args, []byte("requirepass")) {
		t.Errorf("Redis was started as %q, %v", args, err)
	}
}
