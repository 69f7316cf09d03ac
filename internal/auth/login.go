package auth

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// linkLife is long enough for a browser to start, too short for a link to be
	// found in the history of a terminal.
	linkLife = time.Minute
	// pageLife is how long a browser is let in by a link: a day's work. Use does not
	// prolong it, because nothing ends the token of a closed browser.
	pageLife = 12 * time.Hour
)

// A Link lets a browser in, once, as the person who asked for it.
type Link struct {
	ID      string
	Hash    string // hex SHA-256 of the secret
	Role    c3po.Role
	Spaces  []string
	Expires time.Time
}

// LinkRoles are who may let a browser in: it will be what they are.
func LinkRoles() []c3po.Role { return []c3po.Role{c3po.RoleHuman, c3po.RoleAdmin} }

// LoginLink makes the code of a link. The browser will have the role and the
// spaces of the caller whose request ctx is of.
func (k *Keeper) LoginLink(ctx context.Context, caller c3po.Caller) (c3po.LoginLink, error) {
	if !slices.Contains(LinkRoles(), caller.Role) {
		return c3po.LoginLink{}, c3po.Errorf(c3po.Forbidden, "only a person can make a link for a browser").
			Suggest("Run `c3po open` in a terminal of your own.")
	}
	mine, _ := ctx.Value(grantKey{}).(Grant)
	if mine.Fixed {
		// It would never end: each browser could let in the next.
		return c3po.LoginLink{}, c3po.Errorf(c3po.Forbidden, "a browser that was let in for a time lets in no other").
			Suggest("Run `c3po open` in a terminal of your own.")
	}
	spaces := mine.Spaces
	if len(spaces) == 0 {
		spaces = []string{string(caller.Space)} // without authentication there is no grant
	}
	proof := RandomSecret()
	link := Link{ID: NewKID(), Hash: proof.Hash(), Role: caller.Role, Spaces: spaces, Expires: k.now().Add(linkLife).UTC()}
	if err := k.store.PutLink(ctx, link); err != nil {
		return c3po.LoginLink{}, err
	}
	k.Record(ctx, AuditEntry{Event: EventLinkMade, KID: link.ID, Role: caller.Role, Detail: "by token " + mine.KID})
	return c3po.LoginLink{Code: link.ID + "-" + proof.Reveal(), Expires: link.Expires}, nil
}

// Login gives a browser its own token in exchange for a link's code.
func (k *Keeper) Login(ctx context.Context, remote string, in c3po.LoginInput) (c3po.Login, error) {
	id, proof, _ := strings.Cut(in.Code, "-")
	outcome := InviteUnknown
	var link Link
	if isKID(id) {
		var err error
		if link, outcome, err = k.store.SpendLink(ctx, id, NewSecret(proof).Hash()); err != nil {
			return c3po.Login{}, err
		}
	}
	if outcome != InviteSpent {
		if k.refusedLogins.allow(k.now(), maxFailuresPerSecond) {
			k.Record(ctx, AuditEntry{Event: EventLoginRefused, Remote: remote, Detail: "the link is " + string(outcome)})
		}
		return c3po.Login{}, c3po.Errorf(c3po.Forbidden, "this link has expired or was already used").
			Suggest("One is good for one use and for a minute. `c3po open` makes a new one.")
	}
	made, err := k.Mint(ctx, Grant{
		Role: link.Role, Spaces: link.Spaces, Label: "browser, by c3po open", Expires: k.now().Add(pageLife).UTC(), Fixed: true,
	})
	if err != nil {
		return c3po.Login{}, usedUp(err, "link", "c3po open")
	}
	k.Record(ctx, AuditEntry{Event: EventLogin, KID: made.KID, Role: link.Role, Remote: remote, Detail: "by link " + link.ID})
	return c3po.Login{Token: made.Secret, Role: made.Role, Spaces: made.Spaces, Expires: made.Expires}, nil
}
