package bench

import (
	"bytes"
	"syscall"
	"testing"
	"time"
)

// A terminal tells everybody in the foreground, so also what was started.
func TestAnInterruptedMeasurementLeavesNothingAndEndsSoon(t *testing.T) {
	t.Parallel()
	const interrupted, soon = 130, 15 * time.Second
	for name, c := range map[string]struct {
		signal    syscall.Signal
		processes int // that it has started by then
	}{
		"Ctrl-C at the start":        {syscall.SIGINT, 1},
		"Ctrl-C with a coordinator":  {syscall.SIGINT, 2},
		"a terminal that is closed":  {syscall.SIGHUP, 2},
		"Ctrl-\\ with a coordinator": {syscall.SIGQUIT, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, folder := command(t, Send, "-seconds", "60")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it has begun", func() bool { return len(processesIn(folder)) >= c.processes })
			if err := syscall.Kill(-cmd.Process.Pid, c.signal); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(soon, func() { _ = cmd.Process.Kill() })
			defer late.Stop()
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != interrupted {
				t.Errorf("it ended with %v: %s", err, stderr.String())
			}
			if left := remains(t, folder); left != "" {
				t.Errorf("it left behind: %s", left)
			}
		})
	}
}
