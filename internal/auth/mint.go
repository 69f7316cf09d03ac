package auth

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
)

// TokenRoles are who may make, list, end and rotate tokens. A runner may only
// make those of the agents it starts.
func TokenRoles(create bool) []c3po.Role {
	if create {
		return []c3po.Role{c3po.RoleAdmin, c3po.RoleRunner}
	}
	return []c3po.Role{c3po.RoleAdmin}
}

// CreateToken makes a token for the caller whose request ctx is of.
func (k *Keeper) CreateToken(ctx context.Context, caller c3po.Caller, in c3po.TokenInput) (c3po.NewToken, error) {
	if err := k.mayMint(caller, true); err != nil {
		return c3po.NewToken{}, err
	}
	if len(in.Spaces) == 0 {
		in.Spaces = []string{string(caller.Space)}
	}
	if err := CheckTokenInput(in); err != nil {
		return c3po.NewToken{}, err
	}
	account := ""
	if caller.Role == c3po.RoleRunner {
		mine, _ := ctx.Value(grantKey{}).(Grant)
		if err := checkChild(mine, in); err != nil {
			return c3po.NewToken{}, err
		}
		account = caller.Account
	}
	if err := k.checkCase(ctx, in.Agents); err != nil {
		return c3po.NewToken{}, err
	}
	ctx, err := k.proveInput(ctx, caller, "token_create", in)
	if err != nil {
		return c3po.NewToken{}, err
	}
	made, err := k.Mint(ctx, Grant{Role: in.Role, Spaces: in.Spaces, Pattern: in.Agents, Label: in.Label, Account: account})
	if err == nil {
		k.recordToken(ctx, caller, EventTokenCreated, made.KID, string(made.Role)+" for "+strings.Join(made.Spaces, ","))
	}
	return made, err
}

// checkCase refuses a token for a host whose name differs from another's in case alone: a
// person would mistake its agents for the other host's.
func (k *Keeper) checkCase(ctx context.Context, pattern string) error {
	host := hostOf(pattern)
	if host == "" {
		return nil
	}
	grants, err := k.store.Grants(ctx)
	if err != nil {
		return err
	}
	for _, g := range grants {
		if other := hostOf(g.Pattern); other != host && strings.EqualFold(other, host) && g.Live(k.now()) {
			return c3po.Errorf(c3po.InvalidRequest, "there is a host '%s', which reads like '%s'", other, host).
				Suggest("Use its name, or one that differs in more than case.")
		}
	}
	return nil
}

// Mint makes a token of a grant and stores the grant. It is for what the
// coordinator does itself; callers go through CreateToken.
func (k *Keeper) Mint(ctx context.Context, g Grant) (c3po.NewToken, error) {
	token := NewToken(g.Role)
	now := k.now().UTC()
	g.KID, g.Hash, g.Created = token.KID, token.Secret.Hash(), now
	if g.Expires.IsZero() {
		g.Expires = now.Add(life)
	}
	if err := k.store.PutGrant(ctx, g); err != nil {
		return c3po.NewToken{}, err
	}
	return c3po.NewToken{Token: k.show(g), Secret: token.Reveal()}, nil
}

// LocalGrant is what the user who runs a coordinator gets on its machine.
func LocalGrant(role c3po.Role, label string) Grant {
	g := Grant{Role: role, Spaces: everySpace(), Label: label}
	if role == c3po.RoleAgent {
		g.Pattern = "*"
	}
	return g
}

// Works says whether a token is worth something now.
func (k *Keeper) Works(ctx context.Context, text string) (bool, error) {
	_, works, err := k.working(ctx, text)
	return works, err
}

func (k *Keeper) working(ctx context.Context, text string) (Grant, bool, error) {
	token, err := ParseToken(text)
	if err != nil {
		return Grant{}, false, nil
	}
	grant, ok, err := k.store.Grant(ctx, token.KID)
	return grant, ok && k.judge(token, grant) == nil, err
}

// Localize makes a token Local that works but was made by an older version.
func (k *Keeper) Localize(ctx context.Context, text string) error {
	grant, works, err := k.working(ctx, text)
	if err != nil || !works || grant.Local {
		return err
	}
	grant.Local = true
	return k.store.PutGrant(ctx, grant)
}

// Tokens are all tokens, oldest first.
func (k *Keeper) Tokens(ctx context.Context, caller c3po.Caller) ([]c3po.Token, error) {
	if err := k.mayMint(caller, false); err != nil {
		return nil, err
	}
	grants, err := k.store.Grants(ctx)
	tokens := make([]c3po.Token, len(grants))
	for i, g := range grants {
		tokens[i] = k.show(g)
	}
	return tokens, err
}

// RevokeToken ends a token for good, everywhere within a second.
func (k *Keeper) RevokeToken(ctx context.Context, caller c3po.Caller, kid string) (c3po.Token, error) {
	g, err := k.find(ctx, caller, kid)
	if err != nil {
		return c3po.Token{}, err
	}
	if ctx, err = k.proveInput(ctx, caller, "token_revoke", map[string]string{"kid": kid}); err != nil {
		return c3po.Token{}, err
	}
	if _, err := k.store.Revoke(ctx, kid); err != nil {
		return c3po.Token{}, err
	}
	g.Revoked = true
	k.recordToken(ctx, caller, EventTokenRevoked, kid, "")
	return k.show(g), nil
}

// RotateToken makes a successor of a token, beside which it works for ten more
// minutes.
func (k *Keeper) RotateToken(ctx context.Context, caller c3po.Caller, kid string) (c3po.NewToken, error) {
	old, err := k.find(ctx, caller, kid)
	if err != nil {
		return c3po.NewToken{}, err
	}
	if !old.Live(k.now()) {
		return c3po.NewToken{}, c3po.Errorf(c3po.InvalidRequest, "token '%s' has ended", kid).Suggest("Make a new one with `c3po token create`.")
	}
	if ctx, err = k.proveInput(ctx, caller, "token_rotate", map[string]string{"kid": kid}); err != nil {
		return c3po.NewToken{}, err
	}
	next := Grant{Role: old.Role, Spaces: old.Spaces, Pattern: old.Pattern, Label: old.Label, SuccessorOf: old.KID, Local: old.Local}
	if old.Fixed {
		// Given for a time, it has no successor that lives longer. One that is fixed
		// because it was rotated has a successor that is not.
		lasts, err := k.hasLastingSuccessor(ctx, old.KID)
		if err != nil {
			return c3po.NewToken{}, err
		}
		if !lasts {
			next.Fixed, next.Expires = true, old.Expires
		}
	}
	next.Account = cmp.Or(old.Account, old.KID)
	// The new one first: whatever happens in between, one of them works.
	made, err := k.Mint(ctx, next)
	if err != nil {
		return c3po.NewToken{}, err
	}
	if end := k.now().Add(rotatedLife); end.Before(old.Expires) {
		old.Expires = end
	}
	old.Fixed = true
	if err := k.store.PutGrant(ctx, old); err != nil {
		return c3po.NewToken{}, c3po.Because(err, c3po.UnknownOutcome, "a successor is stored, but nobody knows whether the old token ends").
			Suggest("Rotate it again; a token that nobody received cannot be used.")
	}
	k.recordToken(ctx, caller, EventTokenRotated, kid, "successor "+made.KID)
	return made, nil
}

func (k *Keeper) hasLastingSuccessor(ctx context.Context, kid string) (bool, error) {
	grants, err := k.store.Grants(ctx)
	return slices.ContainsFunc(grants, func(g Grant) bool { return g.SuccessorOf == kid && !g.Fixed }), err
}

func (k *Keeper) find(ctx context.Context, caller c3po.Caller, kid string) (Grant, error) {
	if err := k.mayMint(caller, false); err != nil {
		return Grant{}, err
	}
	if isKID(kid) {
		if g, ok, err := k.store.Grant(ctx, kid); ok || err != nil {
			return g, err
		}
	}
	return Grant{}, c3po.Errorf(c3po.InvalidRequest, "there is no token '%s'", clip(kid)).
		Suggest("`c3po token list` shows the key ids.")
}

func (k *Keeper) mayMint(caller c3po.Caller, create bool) error {
	if slices.Contains(TokenRoles(create), caller.Role) {
		return nil
	}
	return c3po.Errorf(c3po.Forbidden, "tokens are for an admin to manage").Suggest("Use `c3po token` on the coordinator's machine.")
}

func (k *Keeper) recordToken(ctx context.Context, caller c3po.Caller, event, kid, detail string) {
	k.Record(ctx, AuditEntry{Event: event, KID: kid, Role: caller.Role, Agent: string(caller.ID), Detail: strings.TrimPrefix(detail+provedBy(ctx), ", ")})
}

func (k *Keeper) show(g Grant) c3po.Token {
	state := "live"
	switch {
	case g.Revoked:
		state = "revoked"
	case !g.Live(k.now()):
		state = "expired"
	}
	return c3po.Token{
		KID: g.KID, Role: g.Role, Spaces: g.Spaces, Agents: g.Pattern, Label: g.Label, State: state,
		Created: g.Created, Expires: g.Expires, LastUsed: g.LastUsed, SuccessorOf: g.SuccessorOf,
	}
}

const maxLabelCharacters = 100

// CheckTokenInput refuses what no token can be made of. Without spaces it is for its
// maker's.
func CheckTokenInput(in c3po.TokenInput) error {
	if !slices.Contains(c3po.Roles(), in.Role) {
		return c3po.Errorf(c3po.InvalidRequest, "there is no role %q", clip(string(in.Role))).
			Suggest("Use agent, runner, observer, human or admin.")
	}
	if len(in.Spaces) > 0 {
		if err := checkSpaces(in.Spaces); err != nil {
			return err
		}
	}
	acts := in.Role == c3po.RoleAgent || in.Role == c3po.RoleRunner
	if acts != (in.Agents != "") {
		return c3po.Errorf(c3po.InvalidRequest, "--agents is required for the roles agent and runner, and only for them").
			Suggest("Give agents, for example build-box/* or * for any bare name.")
	}
	if acts {
		if err := checkPattern(in.Agents); err != nil {
			return err
		}
	}
	if !utf8.ValidString(in.Label) || utf8.RuneCountInString(in.Label) > maxLabelCharacters ||
		strings.ContainsFunc(in.Label, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return c3po.Errorf(c3po.InvalidRequest, "the label is not plain text of at most %d characters", maxLabelCharacters).
			Suggest("Use printable characters only.")
	}
	return nil
}

// checkChild holds what a runner may hand out to what it has.
func checkChild(mine Grant, in c3po.TokenInput) error {
	if in.Role != c3po.RoleAgent || !c3po.Pattern(mine.Pattern).CoversAll(c3po.Pattern(in.Agents)) {
		return c3po.Errorf(c3po.Forbidden, "a runner may make tokens only for agents it may start").
			Suggest("Ask for the role agent and ids within %s.", mine.Pattern)
	}
	for _, space := range in.Spaces {
		if !slices.ContainsFunc(mine.Spaces, func(outer string) bool { return c3po.Pattern(outer).CoversSpace(c3po.Space(space)) }) {
			return c3po.Errorf(c3po.Forbidden, "this token is not for the space '%s'", space).
				Suggest("Ask for spaces the runner's own token is for.")
		}
	}
	return nil
}
