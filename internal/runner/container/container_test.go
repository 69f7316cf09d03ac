package container_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/runner/container"
)

// versions are what the programs say of themselves.
var versions = map[string]string{
	"docker": "Docker version 28.2.2, build e6534b4",
	"podman": "podman version 4.3.1",
	"finch":  "finch version v1.11.0",
}

// A fake is a folder of programs that play runtimes; see testdata/fake.sh.
type fake struct {
	t   *testing.T
	dir string
	env []string
}

func newFake(t *testing.T, programs ...string) *fake {
	t.Helper()
	f := &fake{t: t, dir: t.TempDir()}
	script, err := filepath.Abs("testdata/fake.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range programs {
		if err := os.Symlink(script, filepath.Join(f.dir, name)); err != nil {
			t.Fatal(err)
		}
		f.write(name+".version", versions[name]+"\n")
	}
	f.env = []string{"PATH=" + f.dir + ":/usr/bin:/bin", "FAKE=" + f.dir, "HOME=" + f.dir}
	return f
}

func (f *fake) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) read(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

func (f *fake) has(name string) bool {
	_, err := os.Stat(filepath.Join(f.dir, name))
	return err == nil
}

// call is the arguments of the last call of a verb.
func (f *fake) call(verb string) []string {
	f.t.Helper()
	var last []string
	for line := range strings.Lines(f.read("calls")) {
		if args := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); args[0] == verb {
			last = args
		}
	}
	if last == nil {
		f.t.Errorf("there was no %s", verb)
	}
	return last
}

func TestTheFirstRuntimeWhoseEngineAnswersIsTaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		here    []string
		down    []string
		runtime string
		want    string
		error   string
	}{
		{name: "docker before the others", here: []string{"finch", "podman", "docker"}, want: "docker"},
		{name: "podman before finch", here: []string{"finch", "podman"}, want: "podman"},
		{name: "finch alone", here: []string{"finch"}, want: "finch"},
		{name: "a docker without its engine", here: []string{"docker", "podman"}, down: []string{"docker"}, want: "podman"},
		{name: "the one that was asked for", here: []string{"docker", "podman"}, runtime: "podman", want: "podman"},
		{name: "no engine at all", here: []string{"docker", "podman"}, down: []string{"docker", "podman"}, error: "docker ps: Cannot connect to the engine."},
		{name: "nothing installed", error: "there is no program that runs containers"},
		{name: "one that is not installed", here: []string{"docker"}, runtime: "podman", error: `there is no program "podman"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, c.here...)
			f.env[0] = "PATH=" + f.dir + ":" + toolFolder(t) // no runtime of this machine
			for _, name := range c.down {
				f.write(name+".down", "")
			}
			found, err := container.Find(t.Context(), container.Config{Runtime: c.runtime, Environ: f.env})
			if c.error != "" {
				e := c3po.AsError(err)
				if e == nil || e.Message != c.error || e.Suggestion == "" {
					t.Errorf("the error is %+v", e)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if found.Name() != c.want {
				t.Errorf("%s is taken", found.Name())
			}
		})
	}
}

// toolFolder has what the script needs, and no real runtime.
func toolFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range []string{"cat", "basename", "env", "sleep", "find", "cp", "rm", "sh"} {
		for _, folder := range []string{"/usr/bin", "/bin"} {
			if _, err := os.Stat(filepath.Join(folder, tool)); err == nil {
				if err := os.Symlink(filepath.Join(folder, tool), filepath.Join(dir, tool)); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
	}
	return dir
}

func TestAProgramIsWhatItSaysNotWhatItIsCalled(t *testing.T) {
	t.Parallel()
	f := newFake(t, "docker")
	f.write("docker.version", versions["podman"])
	c, err := container.Find(t.Context(), container.Config{Runtime: filepath.Join(f.dir, "docker"), Environ: f.env})
	if err != nil {
		t.Fatal(err)
	}
	if c.Name() != "podman" || c.HostName() != "host.containers.internal" {
		t.Errorf("it is taken for %s", c.Name())
	}
	f.write("docker.version", "nerdctl version 2.1.3")
	if c := f.only("docker"); c.Name() != "finch" || c.HostName() != "host.docker.internal" {
		t.Errorf("nerdctl is taken for %s", c.Name())
	}
}

func (f *fake) only(name string, env ...string) *container.CLI {
	f.t.Helper()
	c, err := container.Find(f.t.Context(), container.Config{Runtime: name, Environ: append(slices.Clone(f.env), env...)})
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func TestARunHasTheArgumentsOfItsRuntime(t *testing.T) {
	t.Parallel()
	for runtime, quirks := range map[string]struct{ first, reach []string }{
		"docker": {nil, []string{"--add-host=host.docker.internal:host-gateway"}},
		"podman": {podmanFlags(), nil},
		"finch":  {nil, []string{"--add-host=host.docker.internal:host-gateway"}},
	} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, runtime)
			work := filepath.Join(f.dir, "not", "there")
			spec := container.Spec{
				Name: "c3po-a", Image: "localhost/c3po-agent", Labels: map[string]string{"c3po.b": "2", "c3po.a": "1"},
				Env:     []container.Variable{{Name: "TOKEN", Value: "hush"}},
				Mounts:  []container.Mount{{Host: work, Inside: "/workspace"}, {Host: f.dir, Inside: "/state", ReadOnly: true}},
				WorkDir: "/workspace", User: "1000:1000", Network: "host", Entrypoint: "bash", Args: []string{"-c", "echo hi"},
				Stdin: true, ReachHost: true, Memory: "2g", CPUs: "1.5", PIDs: 99,
			}
			if exit, err := f.only(runtime).Run(t.Context(), spec, container.Streams{}); exit != 0 || err != nil {
				t.Fatalf("%d, %v", exit, err)
			}
			want := slices.Concat([]string{"run", "--name", "c3po-a"}, quirks.first, []string{
				"--pull=never", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--label", "c3po.a=1", "--label", "c3po.b=2",
				"-v", work + ":/workspace", "-v", f.dir + ":/state:ro", "--workdir", "/workspace", "--user", "1000:1000", "--network", "host",
				"--memory", "2g", "--cpus", "1.5", "--pids-limit", "99",
			}, quirks.reach, []string{"-i", "--entrypoint", "bash", "-e", "TOKEN", "localhost/c3po-agent", "-c", "echo hi"})
			if diff := cmp.Diff(want, f.call("run")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if slices.Contains(f.call("run"), "--rm") {
				t.Error("--rm loses the exit code on some runtimes")
			}
			if info, err := os.Stat(work); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the folder to mount was not made: %v", err)
			}
		})
	}
}

func podmanFlags() []string {
	flags := []string{"--security-opt", "label=disable"}
	if os.Geteuid() > 0 {
		flags = append(flags, "--userns=keep-id")
	}
	return flags
}

func TestTheExitCodeIsTheContainersWhateverTheProgramSays(t *testing.T) {
	t.Parallel()
	for runtime := range versions {
		for _, code := range []int{0, 1, 42, 125, 143} {
			for _, client := range []int{code, 0, 1} { // over Podman's socket Docker says 0, Finch often 1
				t.Run(fmt.Sprintf("%s %d as %d", runtime, code, client), func(t *testing.T) {
					t.Parallel()
					f := newFake(t, runtime)
					var out, complaint bytes.Buffer
					c := f.only(runtime, fmt.Sprintf("FAKE_EXIT=%d", code), fmt.Sprintf("FAKE_CLIENT=%d", client))
					exit, err := c.Run(t.Context(), container.Spec{Name: "x", Image: "i"}, container.Streams{Stdin: strings.NewReader("typed\n"), Stdout: &out, Stderr: &complaint})
					if exit != code || err != nil {
						t.Errorf("the exit code is %d, %v", exit, err)
					}
					if out.String() != "typed\nsaid on stdout\n" || complaint.String() != "said on stderr\n" {
						t.Errorf("it said %q and %q", out.String(), complaint.String())
					}
					if f.has("x.state") {
						t.Error("the container was left behind")
					}
				})
			}
		}
	}
}

func TestAContainerThatNeverRanIsAnErrorInTheWordsOfTheRuntime(t *testing.T) {
	t.Parallel()
	for runtime := range versions {
		for how, words := range map[string]string{"missing": "no such image", "created": "nothing: not found"} {
			t.Run(runtime+" "+how, func(t *testing.T) {
				t.Parallel()
				f := newFake(t, runtime)
				_, err := f.only(runtime, "FAKE_RUN="+how).Run(t.Context(), container.Spec{Name: "x", Image: "i"}, container.Streams{})
				e := c3po.AsError(err)
				if e == nil || !strings.Contains(e.Message, words) || !strings.HasPrefix(e.Message, runtime+" run: ") || e.Suggestion == "" {
					t.Errorf("the error is %+v", e)
				}
				if f.has("x.state") {
					t.Error("the container was left behind")
				}
			})
		}
	}
}

func TestWhenTheContextEndsTheContainerIsStoppedAndItsCodeRead(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"after it started", "before it is made"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "docker")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			early := when == "before it is made"
			if early {
				f.write("late", "")
			}
			done := make(chan error, 1)
			go func() {
				exit, err := f.only("docker", "FAKE_RUN=hang").Run(ctx, container.Spec{Name: "x", Image: "i", StopGrace: 3 * time.Second}, container.Streams{})
				if err == nil && exit != 143 {
					err = fmt.Errorf("the exit code is %d", exit)
				}
				done <- err
			}()
			if early {
				await(t, func() bool { return f.has("environ") })
				cancel()
				await(t, func() bool { return strings.Contains(f.read("calls"), "stop\t") })
				if err := os.Remove(filepath.Join(f.dir, "late")); err != nil {
					t.Fatal(err)
				}
			} else {
				await(t, func() bool { return f.has("started") })
				cancel()
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff([]string{"stop", "-t", "3", "x"}, f.call("stop")); diff != "" {
				t.Error(diff)
			}
			if f.has("x.state") {
				t.Error("the container was left behind")
			}
		})
	}
}

func TestAContainerThatOutlivesItsProgramIsStopped(t *testing.T) {
	t.Parallel()
	f := newFake(t, "docker")
	_, _ = f.only("docker", "FAKE_RUN=lost").Run(t.Context(), container.Spec{Name: "x", Image: "i"}, container.Streams{})
	f.call("stop")
	if f.has("x.state") {
		t.Error("the container was left behind")
	}
}

// await polls until something holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}

func TestNoValueOfAVariableIsAnArgument(t *testing.T) {
	t.Parallel()
	for runtime := range versions {
		f := newFake(t, runtime)
		spec := container.Spec{Name: "x", Image: "i", Env: []container.Variable{
			{Name: "ANTHROPIC_API_KEY", Value: "hush-1"},
			{Name: "LINES", Value: "hush-2\nhush-3"},
			{Name: "PATH", Value: "/hush-4"},                // the program looks for its own parts with it
			{Name: "DOCKER_HOST", Value: "tcp://hush-5"},    // it would talk to another engine
			{Name: "https_proxy", Value: "http://u:hush-6"}, // it would take another way
			{Name: "MINE", Value: "hush-7"},                 // it has another value itself
		}}
		if _, err := f.only(runtime, "MINE=own").Run(t.Context(), spec, container.Streams{}); err != nil {
			t.Fatal(err)
		}
		if calls := f.read("calls"); strings.Contains(calls, "hush") {
			t.Errorf("a value is an argument:\n%s", calls)
		}
		environ := f.read("environ")
		for _, want := range []string{"ANTHROPIC_API_KEY=hush-1\n", "LINES=hush-2\nhush-3\n", "MINE=own\n", "PATH=" + f.dir} {
			if !strings.Contains(environ, want) {
				t.Errorf("%s was started without %q:\n%s", runtime, want, environ)
			}
		}
		if want := "PATH=/hush-4\nDOCKER_HOST=tcp://hush-5\nhttps_proxy=http://u:hush-6\nMINE=hush-7\n"; f.read("envfile") != want {
			t.Errorf("the file has %q", f.read("envfile"))
		}
		if f.read("envfile.private") == "" {
			t.Error("the file can be read by others")
		}
		args := f.call("run")
		if name := args[slices.Index(args, "--env-file")+1]; exists(name) {
			t.Errorf("the file was left behind: %s", name)
		}
	}
}

func exists(name string) bool { _, err := os.Stat(name); return err == nil }

func TestWhatCannotBeMountedOrSetIsRefusedBeforeTheRun(t *testing.T) {
	t.Parallel()
	f := newFake(t, "docker")
	c := f.only("docker")
	for _, spec := range []container.Spec{
		{Mounts: []container.Mount{{Host: "/a:b", Inside: "/c", ReadOnly: true}}},
		{Env: []container.Variable{{Name: "A=B", Value: "x"}}},
		{Env: []container.Variable{{Name: "A", Value: "x\x00y"}}},
		{Env: []container.Variable{{Name: "PATH", Value: "a\nb"}}},
	} {
		if _, err := c.Run(t.Context(), spec, container.Streams{}); err == nil || c3po.AsError(err).Suggestion == "" {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	if strings.Contains(f.read("calls"), "run") {
		t.Error("something was run")
	}
}

func TestTheLabelOfAnImageTellsWhetherItIsThere(t *testing.T) {
	t.Parallel()
	for runtime := range versions {
		f := newFake(t, runtime)
		c := f.only(runtime)
		check := func(wantValue string, wantFound bool) {
			t.Helper()
			value, found, err := c.ImageLabel(t.Context(), "img", "build.hash")
			if value != wantValue || found != wantFound || err != nil {
				t.Errorf("%s: %q, %v, %v", runtime, value, found, err)
			}
		}
		check("", false)
		f.write("image", "\n")
		check("", true)
		f.write("image", "<no value>\n")
		check("", true)
		f.write("image", "abc\n")
		check("abc", true)
		f.write(runtime+".down", "")
		if _, _, err := c.ImageLabel(t.Context(), "img", "build.hash"); err == nil {
			t.Errorf("%s: without an engine an image is missing", runtime)
		}
	}
}

func TestABuildSaysWhatItDoesAndWhyItFails(t *testing.T) {
	t.Parallel()
	f := newFake(t, "podman")
	build := container.Build{Image: "img", Folder: "/ctx", Args: map[string]string{"V": "1"}, Labels: map[string]string{"build.hash": "abc"}, Network: "host", Flags: []string{"--no-cache"}}
	var out bytes.Buffer
	if err := f.only("podman").Build(t.Context(), build, &out); err != nil || out.String() != "STEP 1\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	want := []string{"build", "-t", "img", "--label", "build.hash=abc", "--build-arg", "V=1", "--network", "host", "--no-cache", "/ctx"}
	if diff := cmp.Diff(want, f.call("build")); diff != "" {
		t.Error(diff)
	}
	if err := f.only("podman", "FAKE_BUILD=2").Build(t.Context(), build, nil); err == nil || !strings.Contains(err.Error(), "STEP 1") {
		t.Errorf("a build that fails: %v", err)
	}
}

func TestContainersAreListedByTheirLabels(t *testing.T) {
	t.Parallel()
	f := newFake(t, "podman")
	f.write("one.state", "running 0")
	f.write("two.state", "exited 7")
	c := f.only("podman")
	all, err := c.List(t.Context(), map[string]string{"c3po.runner": "1", "c3po.agent": "a"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ps", "-aq", "--filter", "label=c3po.agent=a", "--filter", "label=c3po.runner=1"}, f.call("ps")); diff != "" {
		t.Error(diff)
	}
	started := time.Date(2026, 11, 15, 8, 0, 0, 5e8, time.UTC)
	labels := map[string]string{"c3po.agent": "a"}
	want := []container.Container{
		{ID: "f00", Name: "one", Image: "img", Status: "running", Started: started, Labels: labels},
		{ID: "f00", Name: "two", Image: "img", Status: "exited", ExitCode: 7, Started: started, Labels: labels},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	if !all[0].Running() || all[1].Running() {
		t.Error("what runs is not told from what has ended")
	}
	var out bytes.Buffer
	if err := c.Logs(t.Context(), "one", true, 5, container.Streams{Stdout: &out}); err != nil || out.String() != "a line\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if diff := cmp.Diff([]string{"logs", "-f", "--tail", "5", "one"}, f.call("logs")); diff != "" {
		t.Error(diff)
	}
}
