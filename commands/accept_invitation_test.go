package commands_test

import (
	"testing"

	"muster/commands"
	"muster/domain/organization"
)

// TestAnInvitationIsAcceptedAtTheSecondAttempt: PostgreSQL ended the first one,
// as it does where two wait for each other.
func TestAnInvitationIsAcceptedAtTheSecondAttempt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ben, token, _, _, err := h.InviteMember(t.Context(), h.actor, commands.NewMember{Email: "ben@example.org", Name: "Ben", Role: organization.Auditor})
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE SEQUENCE attempt`,
		`CREATE FUNCTION end_the_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('attempt') = 1 THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF;
			RETURN NEW;
		END $$`,
		`CREATE TRIGGER end_the_first BEFORE UPDATE ON members FOR EACH ROW EXECUTE FUNCTION end_the_first()`,
	} {
		if _, err := h.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	joined, _, err := h.AcceptInvitation(t.Context(), commands.AcceptInvitation{Token: token, Name: "Benedict", Password: password})
	if err != nil || joined.ID != ben.ID || joined.Status != organization.Active || joined.Name != "Benedict" {
		t.Fatalf("%+v, %v", joined, err)
	}
	var event organization.MemberJoined
	h.last(h.org.ID, &event)
	if event != (organization.MemberJoined{MemberID: ben.ID, Role: organization.Auditor}) {
		t.Errorf("joined %+v", event)
	}
}

// TestDisablingWithdrawsTheInvitation: a member who is enabled again needs a new one.
func TestDisablingWithdrawsTheInvitation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ben, token, _, _, err := h.InviteMember(t.Context(), h.actor, commands.NewMember{Email: "ben@example.org", Name: "Ben", Role: organization.Auditor})
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []string{organization.Disabled, organization.Active} {
		if _, _, err := h.ChangeMember(t.Context(), h.actor, ben.ID, commands.ChangeMember{Status: &status}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := h.AcceptInvitation(t.Context(), commands.AcceptInvitation{Token: token, Password: password}); code(err) != "invitation_gone" {
			t.Errorf("%s, the old invitation: %v", status, err)
		}
	}
	_, token, _, err = h.RenewInvitation(t.Context(), h.actor, ben.ID)
	if err != nil {
		t.Fatal(err)
	}
	if joined, _, err := h.AcceptInvitation(t.Context(), commands.AcceptInvitation{Token: token, Password: password}); err != nil || joined.Status != organization.Active {
		t.Errorf("the new invitation: %+v, %v", joined, err)
	}
}
