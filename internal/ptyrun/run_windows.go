package ptyrun

import "context"

// Run is not for Windows, which has no terminals of this kind.
func Run(context.Context, Config) (int, error) { return 0, unavailable() }
