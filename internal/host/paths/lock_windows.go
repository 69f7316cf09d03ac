package paths

import (
	"os"

	"github.com/c3po-dev/c3po"
)

// flock is for hosting, which Windows does not do.
func flock(*os.File) (bool, error) {
	return false, c3po.Errorf(c3po.InvalidRequest, "a coordinator cannot be hosted on Windows").
		Suggest("Run `c3po up` on Linux, macOS or in WSL, and point C3PO_COORDINATOR_URL at it.")
}
