package accounts_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/accounts"
)

var atCorp = accounts.Identity{Issuer: "https://login.corp.example", Subject: "s-1"}

// link links an identity, and returns why it cannot be.
func (d *door) link(m accounts.Member, email string, id accounts.Identity) string {
	d.Helper()
	err := d.try(func(tx *sqlx.Tx) error {
		got, err := d.LinkIdentity(d.Context(), tx, m.OrganizationID, m.ID, email, id, here)
		if err == nil && got.ID != m.ID {
			d.Errorf("linked to %s, not %s", got.ID, m.ID)
		}
		return err
	})
	return d.stranger(err)
}

func (d *door) stranger(err error) string {
	d.Helper()
	var stranger *accounts.StrangerError
	if errors.As(err, &stranger) {
		return stranger.Reason
	}
	if err != nil {
		d.Fatal(err)
	}
	return ""
}

func TestLinkIdentity(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Admin, "")
	bo := d.member("bo@example.org", organization.Viewer, organization.Invited)
	gone := d.member("gone@example.org", organization.Viewer, organization.Disabled)
	second, elsewhere := accounts.Identity{Issuer: atCorp.Issuer, Subject: "s-2"}, accounts.Identity{Issuer: "https://id.example", Subject: "s-1"}
	for _, step := range []struct {
		name  string
		who   accounts.Member
		email string
		id    accounts.Identity
		want  string
	}{
		{"another's address", ana, "bo@example.org", atCorp, accounts.StrangerUnknown},
		{"disabled", gone, "gone@example.org", atCorp, accounts.StrangerDisabled},
		{"however the provider spells it", ana, "Ana@Example.org ", atCorp, ""},
		{"again", ana, "ana@example.org", atCorp, ""},
		{"a recycled address", ana, "ana@example.org", second, accounts.StrangerOther},
		{"an identity that is somebody's", bo, "bo@example.org", atCorp, accounts.StrangerOther},
		{"the same subject at another provider", ana, "ana@example.org", elsewhere, ""},
		{"invited", bo, "bo@example.org", second, ""},
	} {
		if got := d.link(step.who, step.email, step.id); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
	log, err := d.SecurityLog(t.Context(), accounts.SecurityQuery{Organization: d.org.ID, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var linked []string // the newest first
	for _, e := range log {
		linked = append(linked, fmt.Sprint(e.Type, " ", e.MemberID == ana.ID, " ", e.Detail, " ", e.IP))
	}
	if diff := cmp.Diff([]string{
		"identityLinked false " + atCorp.Issuer + " " + here.IP, "identityLinked true " + elsewhere.Issuer + " " + here.IP,
		"identityLinked true " + atCorp.Issuer + " " + here.IP,
	}, linked); diff != "" {
		t.Errorf("the security log (-want +got):\n%s", diff)
	}
}

func TestLinkIdentityTogether(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Admin, "")
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			if got := d.link(ana, "ana@example.org", atCorp); got != "" {
				t.Errorf("refused: %s", got)
			}
		})
	}
	group.Wait()
	var links int
	if err := d.db.Get(&links, `SELECT count(*) FROM member_identities`); err != nil || links != 1 {
		t.Errorf("%d links, %v", links, err)
	}
}

func TestSignInByIdentity(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Admin, "")
	if _, _, err := d.SignInByIdentity(t.Context(), atCorp, here); d.stranger(err) != accounts.StrangerUnknown {
		t.Errorf("unknown: %v", err)
	}
	d.link(ana, "ana@example.org", atCorp)
	token, p, err := d.SignInByIdentity(t.Context(), atCorp, here)
	if err != nil || p.Member.ID != ana.ID || p.Method != accounts.MethodOIDC {
		t.Fatalf("%+v %v", p, err)
	}
	if again, _, err := d.SignInByIdentity(t.Context(), atCorp, here); err != nil || again == token {
		t.Errorf("the second sign-in has the first one's session: %v", err)
	}
	log, err := d.SecurityLog(t.Context(), accounts.SecurityQuery{Organization: d.org.ID, Limit: 10})
	if err != nil || len(log) != 3 || log[0].Type != accounts.SignedIn || log[0].Detail != "oidc" || log[0].MemberID != ana.ID {
		t.Errorf("security log %+v, %v", log, err)
	}

	d.tx(func(tx *sqlx.Tx) error {
		return d.UpdateMember(t.Context(), tx, ana.OrganizationID, ana.ID, ana.Role, organization.Disabled)
	})
	if _, _, err := d.SignInByIdentity(t.Context(), atCorp, here); d.stranger(err) != accounts.StrangerDisabled {
		t.Errorf("disabled: %v", err)
	}
	if _, err := d.SessionPrincipal(t.Context(), token); err == nil {
		t.Error("the session outlives the membership")
	}
	d.tx(func(tx *sqlx.Tx) error { return d.EraseMember(t.Context(), tx, ana.OrganizationID, ana.ID) })
	if _, _, err := d.SignInByIdentity(t.Context(), atCorp, here); d.stranger(err) != accounts.StrangerUnknown {
		t.Errorf("erased: %v", err)
	}
}

// TestRefuseIdentity: twenty sign-ins that came to nothing make their address
// wait, and no account.
func TestRefuseIdentity(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Admin, "")
	for range 20 {
		if err := d.ThrottleAddress(t.Context(), here); err != nil {
			t.Fatal(err)
		}
		if err := d.RefuseIdentity(t.Context(), ana, "disabled", here); err != nil {
			t.Fatal(err)
		}
	}
	var refusal *accounts.Refusal
	if err := d.ThrottleAddress(t.Context(), here); !errors.As(err, &refusal) || refusal.Code != accounts.CodeLoginThrottled || refusal.RetryAfter <= 0 {
		t.Errorf("after twenty: %v", err)
	}
	elsewhere := here
	elsewhere.IP = "192.0.2.99"
	if err := d.ThrottleAddress(t.Context(), elsewhere); err != nil {
		t.Errorf("another address waits: %v", err)
	}
	var kinds []string
	if err := d.db.Select(&kinds, `SELECT kind FROM sign_in_failures`); err != nil || !cmp.Equal(kinds, []string{"ip"}) {
		t.Errorf("counted against %v, %v", kinds, err)
	}
	d.advance(5 * time.Minute)
	if err := d.ThrottleAddress(t.Context(), here); err != nil {
		t.Errorf("five minutes later: %v", err)
	}
}
