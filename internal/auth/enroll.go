package auth

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// inviteLife is how long an invitation is good: long enough to walk to another
// machine, too short to be found in an old chat.
const inviteLife = 15 * time.Minute

// InviteRoles are who may let hosts in.
func InviteRoles() []c3po.Role { return []c3po.Role{c3po.RoleAdmin} }

// Invite makes the secret of an invitation for one host.
func (k *Keeper) Invite(ctx context.Context, caller c3po.Caller, in c3po.InviteInput) (secret string, expires time.Time, err error) {
	if in.Host != "" {
		if err := checkHost(in.Host); err != nil {
			return "", time.Time{}, err
		}
	}
	if in.Person && in.Runner {
		return "", time.Time{}, c3po.Errorf(c3po.InvalidRequest, "an invitation is for a person or for a host that starts agents, not for both").
			Suggest("Make two.")
	}
	if in.Person && len(in.Spaces) == 0 {
		in.Spaces = everySpace()
	}
	if len(in.Spaces) == 0 {
		// Its agents may also have spaces of their own repositories.
		in.Spaces = []string{string(c3po.DefaultSpace), "repo-*"}
	}
	if err := checkSpaces(in.Spaces); err != nil {
		return "", time.Time{}, err
	}
	if ctx, err = k.proveInput(ctx, caller, "invite", in); err != nil {
		return "", time.Time{}, err
	}
	proof := RandomSecret()
	invite := Invite{
		ID: NewKID(), Hash: proof.Hash(), Host: in.Host, Person: in.Person, Runner: in.Runner, Spaces: in.Spaces, Expires: k.now().Add(inviteLife).UTC(),
	}
	if err := k.store.PutInvite(ctx, invite); err != nil {
		return "", time.Time{}, err
	}
	k.Record(ctx, AuditEntry{
		Event: EventInvited, KID: invite.ID, Role: caller.Role, Agent: string(caller.ID), Detail: invite.guest(cmp.Or(in.Host, "of any name")) + provedBy(ctx),
	})
	return invite.ID + "-" + proof.Reveal(), invite.Expires, nil
}

// Join gives a host its tokens, for the secret of an invitation.
func (k *Keeper) Join(ctx context.Context, remote string, in c3po.JoinInput) (c3po.Joined, error) {
	// What is wrong with the request itself is said before the one use is over.
	if err := checkHost(in.Host); err != nil {
		return c3po.Joined{}, err
	}
	id, proof, _ := strings.Cut(in.Secret, "-")
	outcome := InviteUnknown
	var invite Invite
	if isKID(id) {
		var err error
		if invite, outcome, err = k.store.SpendInvite(ctx, id, NewSecret(proof).Hash()); err != nil {
			return c3po.Joined{}, err
		}
	}
	if outcome != InviteSpent {
		if k.refusedJoins.allow(k.now(), maxFailuresPerSecond) {
			k.Record(ctx, AuditEntry{Event: EventJoinRefused, Remote: remote, Detail: "the invitation is " + string(outcome)})
		}
		return c3po.Joined{}, c3po.Errorf(c3po.Forbidden, "this invitation is wrong, has expired or was already used").
			Suggest("One works once, within 15 minutes, and for a few wrong tries. `c3po invite` on the coordinator's machine prints a new one.")
	}
	joined, err := k.enroll(ctx, invite, in.Host)
	if err == nil {
		k.Record(ctx, AuditEntry{Event: EventJoined, KID: invite.ID, Remote: remote, Detail: invite.guest(joined.Host)})
		return joined, nil
	}
	return c3po.Joined{}, usedUp(err, "invitation", "c3po invite")
}

// usedUp is the error of what was good for one use, which is over, and brought
// nothing: nobody may say that nothing changed.
func usedUp(err error, what, maker string) error {
	return c3po.Because(err, c3po.UnknownOutcome, "this "+what+" is used up, but the token for it could not be stored").
		Suggest("`%s` makes a new one; whatever was stored for this one cannot be used.", maker)
}

// guest says in the audit whom an invitation is for.
func (i Invite) guest(host string) string {
	if i.Person {
		return "person at host " + host
	}
	return "host " + host
}

func (k *Keeper) enroll(ctx context.Context, invite Invite, wish string) (c3po.Joined, error) {
	if invite.Person {
		host := cmp.Or(invite.Host, wish)
		made, err := k.Mint(ctx, Grant{Role: c3po.RoleHuman, Spaces: invite.Spaces, Label: "person at host " + host})
		return c3po.Joined{Host: host, PersonToken: made.Secret, Spaces: invite.Spaces}, err
	}
	host, token, err := k.newHost(ctx, invite, wish)
	if err != nil {
		return c3po.Joined{}, err
	}
	joined := c3po.Joined{Host: host, Token: token, Spaces: invite.Spaces}
	if invite.Runner {
		made, err := k.Mint(ctx, Grant{Role: c3po.RoleRunner, Spaces: invite.Spaces, Pattern: host + "/*", Label: "runner of host " + host})
		if err != nil {
			return c3po.Joined{}, err
		}
		joined.RunnerToken = made.Secret
	}
	return joined, nil
}

// maxHostsPerName of one name there may be.
const maxHostsPerName = 100

// newHost makes the token of a host. A name that the invitation says is the
// admin's word; one that the host itself would like must not be another's, whose
// agents it could then be.
func (k *Keeper) newHost(ctx context.Context, invite Invite, wish string) (host, token string, err error) {
	for n := 1; n <= maxHostsPerName; n++ {
		host = string(c3po.AgentID(cmp.Or(invite.Host, wish)).Numbered(n))
		taken, err := k.hostTaken(ctx, host, "")
		if err != nil {
			return "", "", err
		}
		if taken && invite.Host == "" {
			continue
		}
		made, err := k.Mint(ctx, Grant{Role: c3po.RoleAgent, Spaces: invite.Spaces, Pattern: host + "/*", Label: "host " + host})
		if err != nil || invite.Host != "" {
			return host, made.Secret, err
		}
		// Two who ask at once both step back, so that never both stay.
		if taken, err = k.hostTaken(ctx, host, made.KID); err == nil && !taken {
			return host, made.Secret, nil
		}
		if _, revoking := k.store.Revoke(ctx, made.KID); revoking != nil || err != nil {
			return "", "", cmp.Or(err, revoking)
		}
	}
	return "", "", c3po.Errorf(c3po.InvalidRequest, "too many hosts are called '%s'", wish).
		Suggest("Name the host in its invitation: `c3po invite --host NAME`.")
}

// hostTaken says whether a live token other than this one is for a host.
func (k *Keeper) hostTaken(ctx context.Context, host, except string) (bool, error) {
	grants, err := k.store.Grants(ctx)
	if err != nil {
		return false, err
	}
	for _, g := range grants {
		// A person would read Lap and lap as the same.
		if g.KID != except && g.Live(k.now()) && strings.EqualFold(hostOf(g.Pattern), host) {
			return true, nil
		}
	}
	return false, nil
}

func checkHost(host string) error {
	id, err := c3po.ParseAgentID(host)
	if strings.EqualFold(host, c3po.ContainerHost) {
		return c3po.Errorf(c3po.InvalidRequest, "no host can be called '%s': agents in containers are", c3po.ContainerHost).
			Suggest("Give another name with --host.")
	}
	if err != nil || id.Host() != "" || id.Poses() {
		return c3po.Errorf(c3po.InvalidRequest, "%q cannot be the name of a host", clip(host)).
			Suggest("It has 1-64 of A-Z a-z 0-9 _ . - and starts with a letter or digit, and does not read like a person's or c3po's name. Give one with --host.")
	}
	return nil
}
