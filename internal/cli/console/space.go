package console

import (
	"os"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// autoSpace asks for the space of the repository.
const autoSpace = "auto"

// InSpace is the space to act in: the one that was named, or that of the
// repository of the current folder. Empty leaves it to the token.
func (a *Console) InSpace() (c3po.Space, error) {
	if a.Space == "" {
		return "", nil
	}
	if a.Space != autoSpace {
		space, err := c3po.ParseSpace(a.Space)
		return space, Misspelled(err)
	}
	folder, err := os.Getwd()
	if err != nil {
		return "", BadUsage("the current folder has no name", "Name the space with --space.")
	}
	return paths.RepositorySpace(folder)
}
