package runner

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/c3po-dev/c3po/internal/runner/agentfile"
	"github.com/c3po-dev/c3po/internal/runner/container"
)

// What a container may use unless its agent's limits say otherwise: enough for a
// client and a build, and not the host. Threads count as processes.
const (
	defaultMemory = "4g"
	defaultPids   = 4096
	cpusPart      = 0.75 // of the host's processors
)

// setLimits gives a container its limits. What an agent asks for is passed on, and
// fails if it cannot be had; what we would set ourselves is left out where the
// runtime cannot keep it, and that is said.
func (r *Runner) setLimits(ctx context.Context, spec *container.Spec, want agentfile.Limits) {
	lacking := []string(nil)
	if want.Memory == "" || want.CPUs == "" || want.PIDs == 0 {
		lacking = r.cfg.Containers.Lacking(ctx)
	}
	has := func(controller, limit string) bool {
		if !slices.Contains(lacking, controller) {
			return true
		}
		r.cfg.Log.WarnContext(ctx, "the runtime cannot limit a container", "what", limit, "because", "this user has no cgroup controller "+controller)
		return false
	}
	switch {
	case want.Memory == "" && has("memory", "memory"):
		spec.Memory = defaultMemory
	case want.Memory != agentfile.All:
		spec.Memory = want.Memory
	}
	switch {
	case want.CPUs == "" && runtime.GOOS != "linux":
		// The virtual machine of the containers has fewer, and bounds them.
	case want.CPUs == "" && has("cpu", "processors"):
		spec.CPUs = fmt.Sprintf("%.2f", math.Max(0.5, cpusPart*float64(runtime.NumCPU())))
	case want.CPUs != agentfile.All:
		spec.CPUs = want.CPUs
	}
	spec.PIDs = want.PIDs
	if want.PIDs == 0 && has("pids", "processes") {
		spec.PIDs = defaultPids
	}
}
