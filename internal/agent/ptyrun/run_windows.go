package ptyrun

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
)

// Run is not for Windows, which has no terminals of this kind.
func Run(context.Context, Config) (int, error) {
	return 1, c3po.Errorf(c3po.InvalidRequest, "c3po run is not available on Windows").
		Suggest("Run the program as it is, and use c3po inbox and c3po reply, or c3po mcp.")
}
