package commands_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
)

// newInstallation is a service on an empty database without members.
func newInstallation(t *testing.T) *house {
	t.Helper()
	db := pgtest.DB(t)
	c := clocktest.At(start)
	store := accounts.New(db, c.Now)
	return &house{T: t, db: db, clock: c, Service: commands.New(usecase.Base{DB: db, Events: eventstore.New(db), Accounts: store, Now: c.Now}, commands.Needs{})}
}

func code(err error) string {
	var rule *usecase.RuleError
	var refusal *accounts.Refusal
	var missing *usecase.NotFoundError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &rule):
		return rule.Code
	case errors.As(err, &refusal):
		return refusal.Code
	case errors.As(err, &missing):
		return "not_found"
	}
	return err.Error()
}

// TestReplicasThatStartTogetherMakeOneAdministrator.
func TestReplicasThatStartTogetherMakeOneAdministrator(t *testing.T) {
	t.Parallel()
	h := newInstallation(t)
	var made atomic.Int32
	together(6, func(int) error {
		created, err := h.EnsureAdmin(t.Context(), "My organization", "admin@example.org", password)
		if created {
			made.Add(1)
		}
		return err
	}, t)
	if made.Load() != 1 || h.count("organizations") != 1 || h.count("members") != 1 {
		t.Errorf("%d say they did, %d organizations, %d members", made.Load(), h.count("organizations"), h.count("members"))
	}
	m, ok, err := h.Accounts.MemberByEmail(t.Context(), "admin@example.org")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if diff := cmp.Diff([]string{"organization.created", "member.joined"}, h.types(m.OrganizationID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, _, err := h.Accounts.SignIn(t.Context(), "admin@example.org", password, accounts.Client{}); err != nil {
		t.Error(err)
	}
	if _, _, err := h.Accounts.NewSetupToken(t.Context(), uuid.Nil); code(err) != "setup_closed" {
		t.Errorf("a setup link now: %v", err)
	}
}

func TestSetUp(t *testing.T) {
	t.Parallel()
	h := newInstallation(t)
	ctx := t.Context()
	in := commands.SetUp{Email: "ana@example.org", Name: "Ana Ruiz", Password: password, OrganizationName: "Example"}
	stale, _, err := h.Accounts.NewSetupToken(ctx, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(30 * time.Minute)
	for name, token := range map[string]string{"unknown": "x", "stale": stale, "empty": ""} {
		in.Token = token
		if _, _, err := h.SetUp(ctx, in); code(err) != "forbidden" {
			t.Errorf("%s link: %v", name, err)
		}
	}
	in.Token, _, err = h.Accounts.NewSetupToken(ctx, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	second, _, _ := h.Accounts.NewSetupToken(ctx, uuid.Nil)
	weak := in
	weak.Password = "password1234"
	if _, _, err := h.SetUp(ctx, weak); code(err) != "weak_password" {
		t.Errorf("weak password: %v", err)
	}
	var made atomic.Int32
	together(4, func(int) error { // a double click
		_, _, err := h.SetUp(ctx, in)
		if err == nil {
			made.Add(1)
			return nil
		}
		if c := code(err); c != "setup_closed" && c != "forbidden" {
			return err
		}
		return nil
	}, t)
	if made.Load() != 1 {
		t.Errorf("set up %d times", made.Load())
	}
	in.Token, in.Email = second, "eve@example.org"
	if _, _, err := h.SetUp(ctx, in); code(err) != "setup_closed" {
		t.Errorf("a second link: %v", err)
	}
	if n := h.count("members"); n != 1 {
		t.Errorf("%d members", n)
	}
}

func TestSetUpOfAnOrganizationThatExists(t *testing.T) {
	t.Parallel()
	h := newInstallation(t)
	demo, _, _, err := h.CreateOrganization(t.Context(), "Demo", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if demo.StatementTexts != organization.TextsNormalized {
		t.Errorf("the demo keeps of texts: %s", demo.StatementTexts)
	}
	token, _, err := h.Accounts.NewSetupToken(t.Context(), demo.ID)
	if err != nil {
		t.Fatal(err)
	}
	long := commands.SetUp{Token: token, Email: "ana@example.org", Name: "Ana", Password: password, OrganizationName: strings.Repeat("x", 201)}
	if _, _, err := h.SetUp(t.Context(), long); code(err) != "out_of_range" {
		t.Errorf("a name that is too long: %v", err)
	}
	m, _, err := h.SetUp(t.Context(), commands.SetUp{Token: token, Email: "ana@example.org", Name: "Ana", Password: password, OrganizationName: " Acme "})
	if err != nil || m.OrganizationID != demo.ID {
		t.Fatal(m, err)
	}
	if o, _, err := h.Accounts.Organization(t.Context(), demo.ID); err != nil || o.Name != "Acme" || !o.Demo {
		t.Errorf("it is %+v, %v", o, err)
	}
	if diff := cmp.Diff([]string{"organization.created", "organization.settings_changed", "member.joined"}, h.types(demo.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSetUpWithoutANameKeepsTheOrganizationsOwn(t *testing.T) {
	t.Parallel()
	h := newInstallation(t)
	demo, _, _, err := h.CreateOrganization(t.Context(), "Demo", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := h.Accounts.NewSetupToken(t.Context(), demo.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.SetUp(t.Context(), commands.SetUp{Token: token, Email: "ana@example.org", Name: "Ana", Password: password}); err != nil {
		t.Fatal(err)
	}
	if o, _, err := h.Accounts.Organization(t.Context(), demo.ID); err != nil || o.Name != "Demo" {
		t.Errorf("it is %+v, %v", o, err)
	}
	if diff := cmp.Diff([]string{"organization.created", "member.joined"}, h.types(demo.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInvitation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	invite := commands.NewMember{Email: "Ben@Example.org", Name: "Ben", Role: organization.Member}
	ben, token, expires, _, err := h.InviteMember(ctx, h.actor, invite)
	if err != nil || ben.Status != "invited" || ben.Email != "ben@example.org" || !expires.Equal(start.Add(24*time.Hour)) {
		t.Fatal(ben, expires, err)
	}
	if _, _, _, _, err := h.InviteMember(ctx, h.actor, invite); code(err) != "member_exists" {
		t.Errorf("invited twice: %v", err)
	}
	_, eve := h.organization("Other")
	if _, _, _, _, err := h.InviteMember(ctx, h.as(eve), invite); code(err) != "member_exists" {
		t.Errorf("invited by another organization: %v", err)
	}
	if _, _, err := h.AcceptInvitation(ctx, commands.AcceptInvitation{Token: token, Name: "Ben B", Password: "short"}); code(err) != "weak_password" {
		t.Errorf("weak password: %v", err)
	}
	var accepted atomic.Int32
	together(4, func(int) error {
		m, _, err := h.AcceptInvitation(ctx, commands.AcceptInvitation{Token: token, Name: "Ben B", Password: password})
		if err == nil {
			accepted.Add(1)
			if m.Status != "active" || m.Name != "Ben B" {
				t.Errorf("member %+v", m)
			}
			return nil
		}
		if code(err) != "invitation_gone" {
			return err
		}
		return nil
	}, t)
	if accepted.Load() != 1 {
		t.Errorf("accepted %d times", accepted.Load())
	}
	if diff := cmp.Diff([]string{"organization.created", "member.joined", "member.invited", "member.joined"}, h.types(h.org.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, late, _, _, _ := h.InviteMember(ctx, h.actor, commands.NewMember{Email: "cleo@example.org", Name: "Cleo", Role: organization.Viewer})
	h.clock.Advance(24 * time.Hour)
	if _, _, err := h.AcceptInvitation(ctx, commands.AcceptInvitation{Token: late, Password: password}); code(err) != "invitation_gone" {
		t.Errorf("a day later: %v", err)
	}
}

func TestANewMemberNeedsAnAddressANameAndARole(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, _, _, _, err := h.InviteMember(t.Context(), h.actor, commands.NewMember{Email: "Ben <ben@example.org>", Name: " ", Role: "owner"})
	var rule *usecase.RuleError
	if !errors.As(err, &rule) {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"invalid_parameter", "#/email invalid_parameter", "#/name out_of_range", "#/role invalid_parameter"}, codes(rule)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func (h *house) principal(m accounts.Member) accounts.Principal {
	return accounts.Principal{Member: m, Organization: h.org, Method: accounts.MethodPassword}
}

func TestDisablingAMemberEndsSessionsAndTokens(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	ben, _, err := h.AddMember(ctx, h.actor, commands.NewMember{Email: "ben@example.org", Name: "Ben", Role: organization.Admin, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	session, _, err := h.Accounts.SignIn(ctx, ben.Email, password, accounts.Client{})
	if err != nil {
		t.Fatal(err)
	}
	_, token, _, err := h.MintToken(ctx, h.principal(ben), "", accounts.NewToken{Kind: "api", Name: "t", Scopes: []organization.Scope{organization.ScopeReportsRead}})
	if err != nil {
		t.Fatal(err)
	}
	_, ingest, _, err := h.MintToken(ctx, h.principal(ben), "", accounts.NewToken{Kind: "ingest", Name: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{token, ingest} {
		if _, err := h.Accounts.TokenPrincipal(ctx, token, ""); err != nil {
			t.Fatal(err)
		}
	}
	disabled, active := organization.Disabled, organization.Active
	m, _, err := h.ChangeMember(ctx, h.actor, ben.ID, commands.ChangeMember{Status: &disabled})
	if err != nil || m.Status != "disabled" {
		t.Fatal(m, err)
	}
	for range 2 { // and coming back brings neither back
		if _, err := h.Accounts.SessionPrincipal(ctx, session); code(err) != "unauthenticated" {
			t.Errorf("session: %v", err)
		}
		for _, token := range []string{token, ingest} {
			if _, err := h.Accounts.TokenPrincipal(ctx, token, ""); code(err) != "token_revoked" {
				t.Errorf("token: %v", err)
			}
		}
		if _, _, err := h.ChangeMember(ctx, h.actor, ben.ID, commands.ChangeMember{Status: &active}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"organization.created", "member.joined", "member.joined", "token.minted", "token.minted", "member.changed", "token.revoked", "token.revoked", "member.changed",
	}
	if diff := cmp.Diff(want, h.types(h.org.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTwoAdministratorsTakeTheRoleFromEachOther: at once, one of them stays.
func TestTwoAdministratorsTakeTheRoleFromEachOther(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ben, _, err := h.AddMember(t.Context(), h.actor, commands.NewMember{Email: "ben@example.org", Name: "Ben", Role: organization.Admin, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	viewer := organization.Viewer
	var refused atomic.Int32
	pairs := [][2]accounts.Member{{h.ana, ben}, {ben, h.ana}}
	together(2, func(i int) error {
		_, _, err := h.ChangeMember(t.Context(), h.as(pairs[i][0]), pairs[i][1].ID, commands.ChangeMember{Role: &viewer})
		if code(err) == "last_admin" {
			refused.Add(1)
			return nil
		}
		return err
	}, t)
	if n := h.count("members WHERE role = 'admin'"); n != 1 || refused.Load() != 1 {
		t.Errorf("%d administrators, %d refused", n, refused.Load())
	}
}

func TestChangeMemberOfAnotherOrganization(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, eve := h.organization("Other")
	viewer, invited := organization.Viewer, organization.Invited
	for name, id := range map[string]uuid.UUID{"foreign": h.ana.ID, "unknown": uuid.New()} {
		if _, _, err := h.ChangeMember(t.Context(), h.as(eve), id, commands.ChangeMember{Role: &viewer}); code(err) != "not_found" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := h.ChangeMember(t.Context(), h.actor, h.ana.ID, commands.ChangeMember{Status: &invited}); code(err) != "invalid_state" {
		t.Errorf("invited again: %v", err)
	}
}

func TestMintToken(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ben, _, err := h.AddMember(t.Context(), h.actor, commands.NewMember{Email: "ben@example.org", Name: "Ben", Role: organization.Member, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	narrow := h.principal(h.ana)
	narrow.Method, narrow.Scopes = accounts.MethodToken, []organization.Scope{organization.ScopeReportsRead}
	for _, c := range []struct {
		name string
		by   accounts.Principal
		in   accounts.NewToken
		want string
	}{
		{"what the role allows", h.principal(ben), accounts.NewToken{Kind: "api", Name: "t", Scopes: []organization.Scope{organization.ScopeReportsCreate}}, ""},
		{"beyond the role", h.principal(ben), accounts.NewToken{Kind: "api", Name: "t", Scopes: []organization.Scope{organization.ScopeAuditRead}}, "forbidden"},
		{"beyond the token that mints it", narrow, accounts.NewToken{Kind: "api", Name: "t", Scopes: []organization.Scope{organization.ScopeReportsCreate}}, "forbidden"},
		{"admin by an administrator", h.principal(h.ana), accounts.NewToken{Kind: "api", Name: "t", Scopes: []organization.Scope{organization.ScopeAdmin}}, ""},
		{"ingest by an administrator", h.principal(h.ana), accounts.NewToken{Kind: "ingest", Name: "t"}, ""},
		{"ingest by a member", h.principal(ben), accounts.NewToken{Kind: "ingest", Name: "t"}, "forbidden"},
		{"without a scope", h.principal(ben), accounts.NewToken{Kind: "api", Name: "t"}, "out_of_range"},
		{"an unknown scope", h.principal(ben), accounts.NewToken{Kind: "api", Name: "t", Scopes: []organization.Scope{"root"}}, "invalid_parameter"},
		{"without a name", h.principal(h.ana), accounts.NewToken{Kind: "ingest"}, "out_of_range"},
		{"for two years", h.principal(h.ana), accounts.NewToken{Kind: "ingest", Name: "t", ExpiresAt: start.AddDate(2, 0, 0)}, "out_of_range"},
		{"for a year", h.principal(h.ana), accounts.NewToken{Kind: "ingest", Name: "t", ExpiresAt: start.AddDate(1, 0, 0)}, ""},
		{"in the past", h.principal(h.ana), accounts.NewToken{Kind: "ingest", Name: "t", ExpiresAt: start}, "out_of_range"},
	} {
		token, text, _, err := h.MintToken(t.Context(), c.by, "", c.in)
		if code(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if err == nil && c.in.ExpiresAt.IsZero() && !token.ExpiresAt.Equal(start.Add(90*24*time.Hour)) {
			t.Errorf("%s: expires %s", c.name, token.ExpiresAt)
		}
		if err == nil {
			if _, err := h.Accounts.TokenPrincipal(t.Context(), text, ""); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

func TestRevokeToken(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	ben, _, err := h.AddMember(ctx, h.actor, commands.NewMember{Email: "ben@example.org", Name: "Ben", Role: organization.Member, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	token, text, _, err := h.MintToken(ctx, h.principal(h.ana), "", accounts.NewToken{Kind: "api", Name: "t", Scopes: []organization.Scope{organization.ScopeAdmin}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.RevokeToken(ctx, h.principal(ben), "", "api", token.ID); code(err) != "not_found" {
		t.Errorf("somebody else's: %v", err)
	}
	if _, err := h.RevokeToken(ctx, h.principal(h.ana), "", "ingest", token.ID); code(err) != "not_found" {
		t.Errorf("of the other kind: %v", err)
	}
	if _, err := h.Accounts.TokenPrincipal(ctx, text, ""); err != nil {
		t.Errorf("refused revocations revoke: %v", err)
	}
	for range 2 {
		if _, err := h.RevokeToken(ctx, h.principal(h.ana), "", "api", token.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Accounts.TokenPrincipal(ctx, text, ""); code(err) != "token_revoked" {
		t.Errorf("revoked: %v", err)
	}
	if n := h.count("events WHERE type = 'token.revoked'"); n != 1 {
		t.Errorf("%d events", n)
	}
}
