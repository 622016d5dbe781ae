package commands_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/organization"
	"muster/internal/accounts"
)

var atCorp = accounts.Identity{Issuer: "https://login.corp.example", Subject: "s-1"}

// stranger is why an identity was refused.
func stranger(t *testing.T, err error) string {
	t.Helper()
	var refused *accounts.StrangerError
	if err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if err == nil {
		return ""
	}
	return refused.Reason
}

func TestInvitedMemberJoinsByIdentity(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	bo, token, _, _, err := h.InviteMember(t.Context(), h.actor, commands.NewMember{Email: "bo@example.org", Name: "Bo", Role: organization.Auditor})
	if err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(48 * accounts.InvitationLife) // the link is old; the provider's word is not
	together(4, func(int) error {                 // two tabs, two replicas
		_, err := h.JoinByIdentity(t.Context(), atCorp, "Bo@example.org", accounts.Client{RequestID: "r-7"})
		return err
	}, t)
	types := h.types(h.org.ID)
	if diff := cmp.Diff([]string{"member.invited", "member.joined"}, types[len(types)-2:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var joined organization.MemberJoined
	h.last(h.org.ID, &joined)
	if joined != (organization.MemberJoined{MemberID: bo.ID, Role: organization.Auditor}) {
		t.Errorf("joined %+v", joined)
	}
	if _, p, err := h.Accounts.SignInByIdentity(t.Context(), atCorp, accounts.Client{}); err != nil || p.Member.ID != bo.ID || p.Member.Status != organization.Active {
		t.Errorf("%+v, %v", p.Member, err)
	}
	if _, _, err := h.AcceptInvitation(t.Context(), commands.AcceptInvitation{Token: token, Password: password}); code(err) != "invitation_gone" {
		t.Errorf("the invitation works still: %v", err)
	}
	if _, _, err := h.Accounts.SignIn(t.Context(), "bo@example.org", "", accounts.Client{}); code(err) != "invalid_credentials" {
		t.Errorf("signed in without a password: %v", err)
	}
}

func TestJoinByIdentity(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	kim := h.member("kim@example.org")
	gone := h.member("gone@example.org")
	off := organization.Disabled
	if _, _, err := h.ChangeMember(t.Context(), h.actor, gone.ID, commands.ChangeMember{Status: &off}); err != nil {
		t.Fatal(err)
	}
	events := h.count("events")
	second := accounts.Identity{Issuer: atCorp.Issuer, Subject: "s-2"}
	for _, step := range []struct {
		name, email string
		id          accounts.Identity
		want        string
	}{
		{"nobody's address", "eve@example.org", atCorp, accounts.StrangerUnknown},
		{"no address", "", atCorp, accounts.StrangerUnknown},
		{"disabled", "gone@example.org", atCorp, accounts.StrangerDisabled},
		{"a Kelvin sign for a k", "\u212aim@example.org", atCorp, accounts.StrangerUnknown},
		{"an active member", h.ana.Email, atCorp, ""},
		{"again", h.ana.Email, atCorp, ""},
		{"a recycled address", h.ana.Email, second, accounts.StrangerOther},
	} {
		mark, err := h.JoinByIdentity(t.Context(), step.id, step.email, accounts.Client{})
		if got := stranger(t, err); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
		if mark.Position != 0 {
			t.Errorf("%s: an event at %d", step.name, mark.Position)
		}
	}
	if n := h.count("events"); n != events {
		t.Errorf("%d events more", n-events)
	}
	if n := h.count("member_identities WHERE member_id = $1", h.ana.ID); n != 1 || h.count("member_identities") != 1 {
		t.Errorf("%d links of the administrator, %d in all", n, h.count("member_identities"))
	}
	m, _, err := h.Accounts.Member(t.Context(), h.org.ID, kim.ID)
	if err != nil || m.Status != organization.Invited || m.ID == uuid.Nil {
		t.Errorf("whom the sign was taken for: %+v, %v", m, err)
	}
}

// TestInvitationIsAcceptedBothWaysAtOnce: with the link and at the provider.
func TestInvitationIsAcceptedBothWaysAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	bo, token, _, _, err := h.InviteMember(t.Context(), h.actor, commands.NewMember{Email: "bo@example.org", Name: "Bo", Role: organization.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	together(2, func(i int) error {
		if i == 0 {
			_, err := h.JoinByIdentity(t.Context(), atCorp, bo.Email, accounts.Client{})
			return err
		}
		if _, _, err := h.AcceptInvitation(t.Context(), commands.AcceptInvitation{Token: token, Password: password}); err != nil && code(err) != "invitation_gone" {
			return err
		}
		return nil
	}, t)
	if _, p, err := h.Accounts.SignInByIdentity(t.Context(), atCorp, accounts.Client{}); err != nil || p.Member.ID != bo.ID {
		t.Errorf("%+v, %v", p.Member, err)
	}
	if n := h.count("events WHERE type = 'member.joined' AND stream_id = $1", h.org.ID); n != 2 { // the administrator, and Bo
		t.Errorf("%d joined", n)
	}
}

// TestAnIdentityJoinsOnlyTheInvitingOrganization: an address is one account, and the
// provider's word on it opens that one and nothing beside it.
func TestAnIdentityJoinsOnlyTheInvitingOrganization(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	other, eve := h.organization("Other")
	bo, _, _, _, err := h.InviteMember(t.Context(), h.as(eve), commands.NewMember{Email: "bo@example.org", Name: "Bo", Role: organization.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	before := h.types(h.org.ID)
	if _, err := h.JoinByIdentity(t.Context(), atCorp, bo.Email, accounts.Client{}); err != nil {
		t.Fatal(err)
	}
	_, p, err := h.Accounts.SignInByIdentity(t.Context(), atCorp, accounts.Client{})
	if err != nil || p.Organization.ID != other.ID || p.Member.ID != bo.ID {
		t.Errorf("signed in to %s as %s, %v", p.Organization.Name, p.Member.Name, err)
	}
	if diff := cmp.Diff(before, h.types(h.org.ID)); diff != "" {
		t.Errorf("events of the first organization (-want +got):\n%s", diff)
	}
}

// TestConcurrentChangesToAnInvitedMemberAllGetAnAnswer: whatever happens to an invited member at the same time,
// every caller gets an answer to act on, and an erased member stays erased. Locks taken in another order would
// not fail here, because Transact decides again: to see that, run it with one decision.
func TestConcurrentChangesToAnInvitedMemberAllGetAnAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 3 {
		bo, token, _, _, err := h.InviteMember(t.Context(), h.actor, commands.NewMember{Email: "bo@example.org", Name: "Bo", Role: organization.Viewer})
		if err != nil {
			t.Fatal(err)
		}
		disabled := organization.Disabled
		wants := []func() error{
			func() error { _, err := h.EraseMember(t.Context(), h.actor, bo.ID, nil); return err },
			func() error { _, err := h.JoinByIdentity(t.Context(), atCorp, bo.Email, accounts.Client{}); return err },
			func() error {
				_, _, err := h.AcceptInvitation(t.Context(), commands.AcceptInvitation{Token: token, Password: password})
				return err
			},
			func() error { _, _, _, err := h.RenewInvitation(t.Context(), h.actor, bo.ID); return err },
			func() error {
				_, _, err := h.ChangeMember(t.Context(), h.actor, bo.ID, commands.ChangeMember{Status: &disabled})
				return err
			},
			func() error {
				tx, err := h.db.BeginTxx(t.Context(), nil)
				if err != nil {
					return err
				}
				defer tx.Rollback()
				return errors.Join(h.RecordPeople(t.Context(), tx, h.org.ID, uuid.New(), []uuid.UUID{bo.ID, h.ana.ID}), tx.Commit())
			},
		}
		together(len(wants), func(i int) error {
			err := wants[i]()
			var refused *accounts.StrangerError
			if errors.As(err, &refused) || slices.Contains([]string{"invitation_gone", "invalid_state", "not_found"}, code(err)) {
				return nil
			}
			return err
		}, t)
		if n := h.count("members WHERE id = $1 AND status = 'erased'", bo.ID); n != 1 {
			t.Error("somebody is there")
		}
		if n := h.count("member_identities") + h.count("invitations WHERE member_id = $1", bo.ID); n != 0 {
			t.Errorf("%d ways in are left", n)
		}
	}
}
