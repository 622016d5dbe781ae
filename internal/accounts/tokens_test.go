package accounts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/accounts"
)

func (d *door) mint(t accounts.Token) (string, accounts.Token) {
	d.Helper()
	t.ID, t.OrganizationID, t.Name, t.CreatedAt = uuid.New(), d.org.ID, "t", start
	var text string
	d.tx(func(tx *sqlx.Tx) (err error) {
		text, t.Prefix, err = d.InsertToken(d.Context(), tx, t)
		return err
	})
	return text, t
}

// TestATokenEndsWithItsMember: a token works only while the member who minted it is active,
// also where disabling them did not revoke it, because it was minted in the same moment.
func TestATokenEndsWithItsMember(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ben := d.member("ben@example.org", organization.Admin, "")
	for _, kind := range []string{accounts.APIToken, accounts.IngestToken} {
		text, _ := d.mint(accounts.Token{Kind: kind, MemberID: ben.ID, ExpiresAt: start.Add(time.Hour)})
		if _, err := d.db.Exec(`UPDATE members SET status = 'active'`); err != nil {
			t.Fatal(err)
		}
		if _, err := d.TokenPrincipal(t.Context(), text, ""); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		for _, status := range []string{organization.Disabled, organization.Invited} {
			if _, err := d.db.Exec(`UPDATE members SET status = $1`, status); err != nil {
				t.Fatal(err)
			}
			if _, err := d.TokenPrincipal(t.Context(), text, ""); refusal(err) != "token_revoked" {
				t.Errorf("%s of a member who is %s: %v", kind, status, err)
			}
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ctx := t.Context()
	ben := d.member("ben@example.org", organization.Member, "")
	text, token := d.mint(accounts.Token{
		Kind: accounts.APIToken, MemberID: ben.ID, Scopes: []organization.Scope{organization.ScopeReportsRead, organization.ScopeAuditRead},
		ExpiresAt: start.Add(time.Hour),
	})
	if len(text) != 44 || !strings.HasPrefix(text, token.Prefix) || !strings.HasPrefix(text, "mst_pat_") || len(token.Prefix) != 12 {
		t.Errorf("token %s, prefix %s", text, token.Prefix)
	}
	p, err := d.TokenPrincipal(ctx, text, "192.0.2.7")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]organization.Scope{organization.ScopeReportsRead}, p.Permissions()); diff != "" {
		t.Errorf("a token reaches beyond its owner's role (-want +got):\n%s", diff)
	}
	admin, _ := d.mint(accounts.Token{Kind: accounts.APIToken, MemberID: ben.ID, Scopes: []organization.Scope{organization.ScopeAdmin}, ExpiresAt: start.Add(time.Hour)})
	if p, err := d.TokenPrincipal(ctx, admin, ""); err != nil || p.Can(organization.ScopeAdmin) || !p.Can(organization.ScopeReportsCreate) {
		t.Errorf("scope admin gives what the role allows: %v, %v", p.Permissions(), err)
	}
	listed, err := d.Tokens(ctx, d.org.ID, ben.ID, accounts.APIToken)
	if err != nil || len(listed) != 2 {
		t.Fatal(listed, err)
	}
	if used := listed[0]; used.ID == token.ID && (used.LastUsedAt == nil || used.LastUsedIP != "192.0.2.7") {
		t.Errorf("its use was not seen: %+v", used)
	}
	broken := []byte(text)
	broken[20] ^= 1
	for _, wrong := range []string{"", "mst_pat_", string(broken), text + "0", strings.Replace(text, "mst_pat_", "mst_ing_", 1)} {
		if _, err := d.TokenPrincipal(ctx, wrong, ""); refusal(err) != "unauthenticated" {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	d.advance(time.Hour)
	if _, err := d.TokenPrincipal(ctx, text, ""); refusal(err) != "token_expired" {
		t.Errorf("an hour later: %v", err)
	}
	d.tx(func(tx *sqlx.Tx) error {
		if ok, err := d.RevokeToken(ctx, tx, uuid.New(), uuid.Nil, accounts.APIToken, token.ID); ok || err != nil {
			t.Errorf("another organization's token: %v, %v", ok, err)
		}
		ok, err := d.RevokeToken(ctx, tx, d.org.ID, ben.ID, accounts.APIToken, token.ID)
		if !ok {
			t.Error("not revoked")
		}
		return err
	})
	if _, err := d.TokenPrincipal(ctx, text, ""); refusal(err) != "token_revoked" {
		t.Errorf("revoked: %v", err)
	}
}

func TestIngestTokens(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ctx := t.Context()
	ana := d.member("ana@example.org", organization.Admin, "")
	only := []uuid.UUID{uuid.New(), uuid.New()}
	scopes := []organization.Scope{organization.ScopeIngestWrite}
	whole, _ := d.mint(accounts.Token{Kind: accounts.IngestToken, MemberID: ana.ID, Scopes: scopes, ExpiresAt: start.Add(time.Hour)})
	some, _ := d.mint(accounts.Token{Kind: accounts.IngestToken, MemberID: ana.ID, Scopes: scopes, InstanceIDs: only, ExpiresAt: start.Add(time.Hour)})
	p, err := d.TokenPrincipal(ctx, whole, "")
	if err != nil || p.InstanceIDs != nil || p.Member.ID != uuid.Nil || p.Organization.ID != d.org.ID {
		t.Errorf("principal %+v, %v", p, err)
	}
	if diff := cmp.Diff(scopes, p.Permissions()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p, err = d.TokenPrincipal(ctx, some, "")
	if diff := cmp.Diff(only, p.InstanceIDs); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	listed, err := d.Tokens(ctx, d.org.ID, uuid.Nil, accounts.IngestToken)
	if err != nil || len(listed) != 2 || !slices.ContainsFunc(listed, func(t accounts.Token) bool {
		return slices.Equal(t.InstanceIDs, only) && slices.Equal(t.Scopes, scopes)
	}) {
		t.Errorf("listed %+v, %v", listed, err)
	}
	// They end when the administrator who minted them is disabled, and do not come back.
	for _, status := range []string{organization.Disabled, organization.Active} {
		d.tx(func(tx *sqlx.Tx) error { return d.UpdateMember(ctx, tx, d.org.ID, ana.ID, organization.Admin, status) })
		for _, token := range []string{whole, some} {
			if _, err := d.TokenPrincipal(ctx, token, ""); refusal(err) != "token_revoked" {
				t.Errorf("their minter is %s: %v", status, err)
			}
		}
	}
}
