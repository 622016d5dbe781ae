package accounts_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/accounts"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ctx := t.Context()
	ana := d.member("ana@example.org", organization.Admin, "")
	ben := d.member("ben_b@example.org", organization.Member, organization.Invited)
	cleo := d.member("cleo@example.org", organization.Viewer, organization.Disabled)
	ids := []uuid.UUID{ana.ID, ben.ID, cleo.ID, uuid.New()}
	addresses, err := d.Addresses(ctx, d.org.ID, ids)
	want := map[uuid.UUID]accounts.Address{ana.ID: {Name: ana.Name, Email: ana.Email, Role: ana.Role}, ben.ID: {Name: ben.Name, Email: ben.Email, Role: ben.Role}}
	if diff := cmp.Diff(want, addresses); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, _ := d.Addresses(ctx, uuid.New(), ids); len(got) != 0 {
		t.Errorf("another organization may mail %v", got)
	}
	names, err := d.Names(ctx, d.org.ID, ids)
	if err != nil || len(names) != 3 || names[cleo.ID] != cleo.Name {
		t.Errorf("names %v, %v", names, err)
	}
	for _, c := range []struct {
		q          string
		page, size int
		got, total int
	}{{"", 1, 2, 2, 3}, {"", 2, 2, 1, 3}, {"", 9, 2, 0, 3}, {"BEN", 1, 20, 1, 1}, {"_", 1, 20, 1, 1}, {"%", 1, 20, 0, 0}, {"nobody", 1, 20, 0, 0}} {
		got, total, err := d.Members(ctx, d.org.ID, accounts.MemberQuery{Text: c.q, Addresses: true, Page: c.page, Size: c.size})
		if err != nil || len(got) != c.got || total != int64(c.total) {
			t.Errorf("q %q, page %d: %d of %d, %v", c.q, c.page, len(got), total, err)
		}
	}
	if _, ok, err := d.Member(ctx, uuid.New(), ana.ID); ok || err != nil {
		t.Errorf("a foreign member: %v, %v", ok, err)
	}
	again := ana
	again.ID = uuid.New()
	if err := d.try(func(tx *sqlx.Tx) error { return d.InsertMember(ctx, tx, again, "") }); refusal(err) != "member_exists" {
		t.Errorf("the same address: %v", err)
	}
}

// TestASignInDoesNotWaitForTheSettings that another transaction is changing.
func TestASignInDoesNotWaitForTheSettings(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Admin, "")
	d.tx(func(tx *sqlx.Tx) error {
		o, err := d.LockOrganization(t.Context(), tx, d.org.ID)
		if err != nil {
			return err
		}
		if _, err := d.UpdateSettings(t.Context(), tx, o.ID, o.Settings()); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, _, err = d.StartSession(ctx, ana.ID, accounts.MethodPassword, here)
		return err
	})
}
