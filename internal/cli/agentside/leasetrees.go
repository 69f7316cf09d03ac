package agentside

import (
	"fmt"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// OfferLeases asks once in each repository whether its files are to be leased.
func OfferLeases(a *console.Console) error {
	checkout, err := checkoutHere()
	if err != nil || !a.AtTerminal() {
		return nil // there is nothing to lease, or nobody to ask
	}
	if _, on := checkout.Leases(); on || a.Folders.LeasesDecided(checkout.Top) || checkout.Leasable() != nil {
		return nil
	}
	fmt.Fprintln(a.Stdout, console.Hang(a.Stdout, 0, "Two agents that edit one file of this repository overwrite each other. With leases an edit is refused while another session holds the file; what a shell command writes is not checked. c3po leases off takes it back."))
	yes, err := a.Confirm("Turn on leases in this repository?", false)
	if err != nil {
		return err
	}
	if yes {
		if _, err := checkout.SetLeases(true); err != nil {
			return err
		}
	}
	return a.Folders.DecideLeases(checkout.Top, yes)
}

// LeasedTrees are the working trees of this host with leases, by where they are.
func LeasedTrees(a *console.Console) ([]string, error) {
	trees, err := a.Folders.Leased()
	if err != nil {
		return nil, err
	}
	var there []string
	for _, tree := range trees {
		if checkout, ok := paths.CheckoutOf(tree); ok {
			if _, on := checkout.Leases(); on {
				there = append(there, tree)
			}
		}
	}
	return there, nil
}

// EndLeases takes the setting and the hooks of leases out of a working tree.
func EndLeases(tree string) error {
	checkout, ok := paths.CheckoutOf(tree)
	if !ok {
		return nil
	}
	return endLeases(checkout)
}

func endLeases(checkout paths.Checkout) error {
	if _, err := checkout.SetLeases(false); err != nil {
		return err
	}
	return removeGitHooks(checkout)
}
