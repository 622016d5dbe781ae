package commands_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/domain/organization"
	"muster/internal/accounts"
)

// erasures are the reports whose inputs are queued for erasure because of a person.
func (h *house) erasures() []uuid.UUID {
	h.Helper()
	reports := []uuid.UUID{}
	if err := h.db.SelectContext(h.Context(), &reports, `SELECT subject FROM jobs WHERE kind = 'erase' AND key = 'people' ORDER BY subject`); err != nil {
		h.Fatal(err)
	}
	return reports
}

// joined adds a member with a password.
func (h *house) joined(name string, role organization.Role) accounts.Member {
	h.Helper()
	m, _, err := h.AddMember(h.Context(), h.actor, commands.NewMember{Email: name + "@example.org", Name: name, Role: role, Password: password})
	if err != nil {
		h.Fatal(err)
	}
	return m
}

// names records whom the inputs of a report name.
func (h *house) names(report uuid.UUID, members ...uuid.UUID) {
	h.Helper()
	h.tx(func(tx *sqlx.Tx) error { return h.RecordPeople(h.Context(), tx, h.org.ID, report, members) })
}

func TestEraseMember(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	ben := h.joined("ben", organization.Member)
	session, _, err := h.Accounts.SignIn(ctx, ben.Email, password, accounts.Client{})
	if err != nil {
		t.Fatal(err)
	}
	_, token, _, err := h.MintToken(ctx, h.principal(ben), "", accounts.NewToken{Kind: "api", Name: "Ben's laptop", Scopes: []organization.Scope{organization.ScopeReportsRead}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.Accounts.SignIn(ctx, ben.Email, "not the password", accounts.Client{}); code(err) != "invalid_credentials" {
		t.Fatal(err)
	}
	his, both, hers := uuid.New(), uuid.New(), uuid.New()
	h.names(his, ben.ID)
	h.names(both, ben.ID, h.ana.ID)
	h.names(hers, h.ana.ID)

	if _, err := h.EraseMember(ctx, h.actor, ben.ID, nil); err != nil {
		t.Fatal(err)
	}
	var row string
	if err := h.db.Get(&row, `SELECT to_jsonb(m) - 'id' - 'organization_id' - 'created_at' FROM members m WHERE id = $1`, ben.ID); err != nil {
		t.Fatal(err)
	}
	if want := `{"name": "", "role": "viewer", "email": null, "status": "erased", "password_hash": null, "last_sign_in_at": null}`; row != want {
		t.Errorf("the row is %s", row)
	}
	if _, err := h.Accounts.SessionPrincipal(ctx, session); code(err) != "unauthenticated" {
		t.Errorf("session: %v", err)
	}
	if _, err := h.Accounts.TokenPrincipal(ctx, token, ""); code(err) != "unauthenticated" {
		t.Errorf("token: %v", err)
	}
	for _, table := range []string{"sessions", "tokens", "sign_in_addresses", "sign_in_failures WHERE kind = 'account'"} {
		if n := h.count(table); n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
	want := []string{"organization.created", "member.joined", "member.joined", "token.minted", "token.revoked", "member.erased"}
	if diff := cmp.Diff(want, h.types(h.org.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := h.erasures(); len(got) != 2 || h.count("jobs WHERE subject = $1", hers) != 0 {
		t.Errorf("queued for erasure: %v, want those of %s and %s", got, his, both)
	}
	members, total, err := h.Accounts.Members(ctx, h.org.ID, accounts.MemberQuery{Page: 1, Size: 20})
	if err != nil || total != 1 || len(members) != 1 {
		t.Errorf("listed are %v, %v", members, err)
	}
	for what, again := range map[string]func() error{
		"erased":  func() error { _, err := h.EraseMember(ctx, h.actor, ben.ID, nil); return err },
		"invited": func() error { _, _, _, err := h.RenewInvitation(ctx, h.actor, ben.ID); return err },
		"changed": func() error {
			disabled := organization.Disabled
			_, _, err := h.ChangeMember(ctx, h.actor, ben.ID, commands.ChangeMember{Status: &disabled})
			return err
		},
	} {
		if err := again(); code(err) != "not_found" {
			t.Errorf("%s after that: %v", what, err)
		}
	}
	if again := h.joined("ben", organization.Member); again.ID == ben.ID {
		t.Error("the address is free for a new member, and not for the old one")
	}
}

func TestEraseMemberRefusesTheLastAdminAndForeignMembers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	_, eve := h.organization("Other")
	if _, err := h.EraseMember(ctx, h.actor, h.ana.ID, nil); code(err) != "last_admin" {
		t.Errorf("the last administrator: %v", err)
	}
	for name, id := range map[string]uuid.UUID{"foreign": eve.ID, "unknown": uuid.New()} {
		if _, err := h.EraseMember(ctx, h.actor, id, nil); code(err) != "not_found" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := h.count("members WHERE status = 'erased'"); n != 0 {
		t.Errorf("%d are erased", n)
	}
}

// TestAnInvitationThatIsAcceptedWhileItsMemberIsErased: one of them comes first, and the member
// is erased in the end either way.
func TestAnInvitationThatIsAcceptedWhileItsMemberIsErased(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 5 {
		ben, token, _, _, err := h.InviteMember(t.Context(), h.actor, commands.NewMember{Email: "ben@example.org", Name: "Ben", Role: organization.Member})
		if err != nil {
			t.Fatal(err)
		}
		together(2, func(i int) error {
			if i == 0 {
				_, err := h.EraseMember(t.Context(), h.actor, ben.ID, nil)
				return err
			}
			_, _, err := h.AcceptInvitation(t.Context(), commands.AcceptInvitation{Token: token, Password: password})
			if code(err) == "invitation_gone" {
				return nil
			}
			return err
		}, t)
		if n := h.count("members WHERE id = $1 AND status = 'erased'", ben.ID); n != 1 {
			t.Error("somebody is there")
		}
	}
}

// pausing stops an erasure where the member's row is emptied and nothing is committed.
type pausing struct {
	commands.Jobs
	reached, release chan struct{}
}

func (p pausing) HastenMails(ctx context.Context, tx *sqlx.Tx, org, member uuid.UUID) error {
	p.reached <- struct{}{}
	<-p.release
	return p.Jobs.HastenMails(ctx, tx, org, member)
}

// waiting waits until a session waits for a lock in this test's database.
func (h *house) waiting() {
	h.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if h.count("pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0 {
			return
		}
		if time.Now().After(deadline) {
			h.Fatal("nobody waits")
		}
	}
}

// TestAReportBecomesReadyDuringAnErasure of a member that it names, in both orders.
func TestAReportBecomesReadyDuringAnErasure(t *testing.T) {
	t.Parallel()
	t.Run("Ready comes first", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		ben, id := h.joined("ben", organization.Member), uuid.New()
		erased := make(chan error, 1)
		h.tx(func(tx *sqlx.Tx) error {
			if err := h.RecordPeople(t.Context(), tx, h.org.ID, id, []uuid.UUID{h.ana.ID, ben.ID}); err != nil {
				return err
			}
			go func() {
				_, err := h.EraseMember(t.Context(), h.actor, ben.ID, nil)
				erased <- err
			}()
			h.waiting()
			return nil
		})
		if err := <-erased; err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]uuid.UUID{id}, h.erasures()); diff != "" {
			t.Errorf("queued for erasure (-want +got):\n%s", diff)
		}
	})
	t.Run("the erasure comes first", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		ben, id := h.joined("ben", organization.Member), uuid.New()
		eraser, p := h.parts(), pausing{h.Jobs, make(chan struct{}), make(chan struct{})}
		eraser.Jobs = p
		erased, ready := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := eraser.EraseMember(t.Context(), h.actor, ben.ID, nil)
			erased <- err
		}()
		<-p.reached
		go func() {
			tx, err := h.db.BeginTxx(t.Context(), nil)
			if err == nil {
				defer tx.Rollback()
				if err = h.RecordPeople(t.Context(), tx, h.org.ID, id, []uuid.UUID{h.ana.ID, ben.ID}); err == nil {
					err = tx.Commit()
				}
			}
			ready <- err
		}()
		h.waiting()
		close(p.release)
		for _, done := range []chan error{erased, ready} {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]uuid.UUID{id}, h.erasures()); diff != "" {
			t.Errorf("queued for erasure (-want +got):\n%s", diff)
		}
	})
}

func TestRenewInvitation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	ben, first, _, _, err := h.InviteMember(ctx, h.actor, commands.NewMember{Email: "ben@example.org", Name: "Ben", Role: organization.Auditor})
	if err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(25 * time.Hour)
	_, second, _, err := h.RenewInvitation(ctx, h.actor, ben.ID)
	if err != nil {
		t.Fatal(err)
	}
	m, third, _, err := h.RenewInvitation(ctx, h.actor, ben.ID)
	if err != nil || m.ID != ben.ID || m.Status != organization.Invited {
		t.Fatal(m, err)
	}
	for name, token := range map[string]string{"lapsed": first, "replaced": second} {
		if _, _, err := h.AcceptInvitation(ctx, commands.AcceptInvitation{Token: token, Password: password}); code(err) != "invitation_gone" {
			t.Errorf("the link that is %s: %v", name, err)
		}
	}
	if m, _, err := h.AcceptInvitation(ctx, commands.AcceptInvitation{Token: third, Password: password}); err != nil || m.Role != organization.Auditor {
		t.Errorf("%+v, %v", m, err)
	}
	_, eve := h.organization("Other")
	if _, _, _, err := h.RenewInvitation(ctx, h.actor, ben.ID); code(err) != "invalid_state" {
		t.Errorf("for who has accepted: %v", err)
	}
	if _, _, _, err := h.RenewInvitation(ctx, h.as(eve), ben.ID); code(err) != "not_found" {
		t.Errorf("by another organization: %v", err)
	}
	want := []string{"organization.created", "member.joined", "member.invited", "member.invited", "member.invited", "member.joined"}
	if diff := cmp.Diff(want, h.types(h.org.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestChangeOrganization(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	days, name := 90, " Acme "
	change := commands.ChangeOrganization{ChangeSettings: organization.ChangeSettings{ReportRetentionDays: &days, Name: &name}}
	change.Seen = []string{h.org.Settings().Digest()}
	o, mark, err := h.ChangeOrganization(ctx, h.actor, change)
	if err != nil || o.ReportRetentionDays != 90 || o.Name != "Acme" || mark.Position == 0 {
		t.Fatal(o, mark, err)
	}
	var e organization.SettingsChanged
	h.last(h.org.ID, &e)
	if diff := cmp.Diff(organization.SettingsChanged{NameChanged: true, ReportRetentionDays: &organization.SettingChange[int]{From: 30, To: 90}}, e); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, _, err := h.ChangeOrganization(ctx, h.actor, change); code(err) != "precondition_failed" {
		t.Errorf("from settings that are no longer: %v", err)
	}
	change.Seen = nil
	if again, mark, err := h.ChangeOrganization(ctx, h.actor, change); err != nil || mark.Position != 0 || again != o {
		t.Errorf("nothing changes: %+v %+v %v", again, mark, err)
	}
	if n := h.count("events WHERE type = 'organization.settings_changed'"); n != 1 {
		t.Errorf("%d events", n)
	}
}

// TestOneOfTwoConcurrentChangesToTheOrganizationWins: two administrators change the same state.
func TestOneOfTwoConcurrentChangesToTheOrganizationWins(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var refused atomic.Int32
	together(6, func(i int) error {
		days, minutes := 100+i, 10+i
		_, _, err := h.ChangeOrganization(t.Context(), h.actor, commands.ChangeOrganization{
			ChangeSettings: organization.ChangeSettings{ReportRetentionDays: &days, SilentMinutes: &minutes},
			Seen:           []string{"0", h.org.Settings().Digest()},
		})
		if code(err) == "precondition_failed" {
			refused.Add(1)
			return nil
		}
		return err
	}, t)
	o, _, err := h.Accounts.Organization(t.Context(), h.org.ID)
	if err != nil || refused.Load() != 5 || o.ReportRetentionDays-100 != o.SilentMinutes-10 {
		t.Errorf("%d were refused, the settings are %+v, %v", refused.Load(), o, err)
	}
	if n := h.count("events WHERE type = 'organization.settings_changed'"); n != 1 {
		t.Errorf("%d events", n)
	}
}
