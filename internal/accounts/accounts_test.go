package accounts_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

const password = "a long enough sentence"

var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// door is a store with a clock that moves when told to.
type door struct {
	*accounts.Store
	*testing.T
	db  *sqlx.DB
	org accounts.Organization

	mu sync.Mutex
	at time.Time
}

func newDoor(t *testing.T) *door {
	t.Helper()
	return newDoorOn(t, pgtest.DB(t))
}

// newDoorOn is newDoor on a migrated database of one's own.
func newDoorOn(t *testing.T, db *sqlx.DB) *door {
	t.Helper()
	d := &door{T: t, db: db, at: start}
	d.Store = accounts.New(d.db, func() time.Time {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.at
	})
	d.tx(func(tx *sqlx.Tx) (err error) {
		d.org, err = d.InsertOrganization(t.Context(), tx, uuid.New(), "Example", false)
		return err
	})
	return d
}

func (d *door) advance(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = d.at.Add(by)
}

func (d *door) tx(f func(tx *sqlx.Tx) error) {
	d.Helper()
	if err := d.try(f); err != nil {
		d.Fatal(err)
	}
}

func (d *door) try(f func(tx *sqlx.Tx) error) error {
	tx, err := d.db.BeginTxx(d.Context(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// member stores a member; an empty status is active, and has the password.
func (d *door) member(email string, role organization.Role, status string) accounts.Member {
	d.Helper()
	m := accounts.Member{ID: uuid.New(), OrganizationID: d.org.ID, Email: email, Name: "Name of " + email, Role: role, Status: status, CreatedAt: start}
	hash := ""
	if status == "" {
		m.Status = organization.Active
	}
	if m.Status != organization.Invited {
		var err error
		if hash, err = d.HashPassword(d.Context(), password, email); err != nil {
			d.Fatal(err)
		}
	}
	d.tx(func(tx *sqlx.Tx) error { return d.InsertMember(d.Context(), tx, m, hash) })
	return m
}

var here = accounts.Client{IP: "192.0.2.1", UserAgent: "test", RequestID: "r-1"}

func refusal(err error) string {
	var r *accounts.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestSessions(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Admin, "")
	ctx := t.Context()
	token, p, err := d.SignIn(ctx, "  ANA@example.org ", password, here)
	if err != nil {
		t.Fatal(err)
	}
	if p.Member.ID != ana.ID || p.Organization.ID != d.org.ID || !p.Can(organization.ScopeAdmin) || p.Method != "password" || !p.ExpiresAt.Equal(start.Add(12*time.Hour)) {
		t.Errorf("principal %+v", p)
	}
	var kept int
	if err := d.db.Get(&kept, `SELECT count(*) FROM sessions WHERE encode(token_hash, 'escape') = $1 OR ip = $1`, token); err != nil || kept != 0 {
		t.Errorf("the token itself is kept: %d, %v", kept, err)
	}
	if _, err := d.SessionPrincipal(ctx, token+"x"); refusal(err) != "unauthenticated" {
		t.Errorf("another token: %v", err)
	}
	// Used every few hours it lives, but not beyond seven days.
	for range 14 {
		d.advance(11 * time.Hour)
		if _, err := d.SessionPrincipal(ctx, token); err != nil {
			t.Fatalf("used within twelve hours: %v", err)
		}
	}
	d.advance(14*time.Hour - time.Microsecond)
	if _, err := d.SessionPrincipal(ctx, token); refusal(err) != "session_expired" {
		t.Errorf("idle for fourteen hours: %v", err)
	}
	d.advance(time.Hour)
	token, _, _ = d.SignIn(ctx, ana.Email, password, here)
	other, q, _ := d.SignIn(ctx, ana.Email, password, here)
	if sessions, err := d.Sessions(ctx, ana.ID); err != nil || len(sessions) != 2 {
		t.Errorf("sessions %v, %v", sessions, err)
	}
	if ok, err := d.RevokeSession(ctx, accounts.Principal{Member: accounts.Member{ID: uuid.New()}}, q.ID, here); ok || err != nil {
		t.Errorf("somebody else's session: %v, %v", ok, err)
	}
	if err := d.SignOut(ctx, token, here); err != nil {
		t.Fatal(err)
	}
	if _, err := d.SessionPrincipal(ctx, token); refusal(err) != "unauthenticated" {
		t.Errorf("signed out: %v", err)
	}
	if ok, _ := d.RevokeSession(ctx, q, q.ID, here); !ok {
		t.Error("their own session cannot be revoked")
	}
	if _, err := d.SessionPrincipal(ctx, other); refusal(err) != "unauthenticated" {
		t.Errorf("revoked: %v", err)
	}
}

// TestTextsAreKeptOnlyByOrganizationsThatAskForThem: not by default, and not by an organization that does not
// exist.
func TestTextsAreKeptOnlyByOrganizationsThatAskForThem(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	keeps := func(id uuid.UUID) bool {
		t.Helper()
		keeps, err := d.KeepsTexts(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return keeps
	}
	if keeps(d.org.ID) || keeps(uuid.New()) {
		t.Error("texts are kept of whoever did not ask for it")
	}
	d.tx(func(tx *sqlx.Tx) error {
		is := d.org.Settings()
		is.StatementTexts = organization.TextsNormalized
		_, err := d.UpdateSettings(t.Context(), tx, d.org.ID, is)
		return err
	})
	if !keeps(d.org.ID) {
		t.Error("texts are not kept of whoever asked for it")
	}
}

func TestASessionEndsAfterSevenDays(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.member("ana@example.org", organization.Member, "")
	token, _, err := d.SignIn(t.Context(), "ana@example.org", password, here)
	if err != nil {
		t.Fatal(err)
	}
	var hash string
	err = d.db.Get(&hash, `SELECT password_hash FROM members`)
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("hash %s, %v", hash, err)
	}
	for range 27 {
		d.advance(6 * time.Hour)
		if _, err := d.SessionPrincipal(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	d.advance(6 * time.Hour)
	if _, err := d.SessionPrincipal(t.Context(), token); refusal(err) != "session_expired" {
		t.Errorf("after seven days of use: %v", err)
	}
}

func TestARefusalDoesNotRevealAccounts(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.member("ana@example.org", organization.Member, "")
	d.member("invited@example.org", organization.Member, organization.Invited)
	d.member("disabled@example.org", organization.Member, organization.Disabled)
	var first error
	for _, email := range []string{"ana@example.org", "nobody@example.org", "invited@example.org", "disabled@example.org", "", "\xff\x00"} {
		given := password
		if email == "ana@example.org" {
			given = "wrong"
		}
		_, _, err := d.SignIn(t.Context(), strings.ToValidUTF8(strings.ReplaceAll(email, "\x00", ""), "?"), given, here)
		if refusal(err) != "invalid_credentials" {
			t.Errorf("%q: %v", email, err)
		}
		if first == nil {
			first = err
		} else if err.Error() != first.Error() {
			t.Errorf("%q is told %q, others %q", email, err, first)
		}
	}
	log, err := d.SecurityLog(t.Context(), accounts.SecurityQuery{Organization: d.org.ID, Limit: 10})
	if err != nil || len(log) != 4 || log[0].Type != accounts.SignInRefused {
		t.Errorf("the organization's log has %+v, %v", log, err)
	}
}

func TestThrottle(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.member("ana@example.org", organization.Member, "")
	ctx := t.Context()
	wrong := func() *accounts.Refusal {
		_, _, err := d.SignIn(ctx, "ana@example.org", "wrong", here)
		var r *accounts.Refusal
		if !errors.As(err, &r) {
			t.Fatalf("error %v", err)
		}
		return r
	}
	for i := range 5 {
		if r := wrong(); r.Code != "invalid_credentials" {
			t.Fatalf("failure %d: %s", i+1, r.Code)
		}
	}
	want := 15 * time.Second
	for range 4 { // growing: 15 s, 30 s, 60 s, 120 s
		r := wrong()
		if r.Code != "login_throttled" || r.RetryAfter < want || r.RetryAfter > want+time.Second {
			t.Errorf("%s, retry after %s, want %s", r.Code, r.RetryAfter, want)
		}
		if _, _, err := d.SignIn(ctx, "ana@example.org", password, here); refusal(err) != "login_throttled" {
			t.Errorf("the right password meanwhile: %v", err)
		}
		d.advance(want)
		if r := wrong(); r.Code != "invalid_credentials" {
			t.Errorf("after the wait: %s", r.Code)
		}
		want *= 2
	}
	d.advance(want)
	if _, _, err := d.SignIn(ctx, "ana@example.org", password, here); err != nil {
		t.Errorf("nobody is locked out for ever: %v", err)
	}
	if r := wrong(); r.Code != "invalid_credentials" {
		t.Errorf("a sign-in forgives: %s", r.Code)
	}
}

func TestASessionIsASignIn(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Member, "")
	if _, p, err := d.StartSession(t.Context(), ana.ID, accounts.MethodPassword, here); err != nil || p.Member.LastSignInAt == nil || !p.Member.LastSignInAt.Equal(start) {
		t.Errorf("signed in at %v, %v", p.Member.LastSignInAt, err)
	}
}

func TestThrottleCanBeLifted(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.member("ana@example.org", organization.Member, "")
	d.Unthrottled = true
	for i := range 8 {
		if _, _, err := d.SignIn(t.Context(), "ana@example.org", "wrong", here); refusal(err) != "invalid_credentials" {
			t.Fatalf("failure %d: %v", i+1, err)
		}
	}
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, here); err != nil {
		t.Errorf("the right password after eight wrong ones: %v", err)
	}
	d.Unthrottled = false
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, here); refusal(err) == "login_throttled" {
		t.Error("failures before a good sign-in are held against the account")
	}
}

func TestThrottleOfAnAddress(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.member("ana@example.org", organization.Member, "")
	for i := range 20 {
		_, _, err := d.SignIn(t.Context(), uuid.NewString()+"@example.org", "wrong", here)
		if refusal(err) != "invalid_credentials" {
			t.Fatalf("failure %d: %v", i+1, err)
		}
	}
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, here); refusal(err) != "login_throttled" {
		t.Errorf("from there: %v", err)
	}
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, accounts.Client{IP: "192.0.2.2"}); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
}

func TestOldFailuresAreForgotten(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	fail := func(email, ip string) {
		t.Helper()
		_, _, err := d.SignIn(t.Context(), email, "wrong", accounts.Client{IP: ip})
		if code := refusal(err); code != "invalid_credentials" && code != "login_throttled" {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		fail(name+"@example.org", "192.0.2."+name)
	}
	d.advance(5*time.Minute + time.Second)
	for range 6 { // has to wait
		fail("ana@example.org", "192.0.2.1")
	}
	var rows int
	if err := d.db.Get(&rows, `SELECT count(*) FROM sign_in_failures`); err != nil || rows != 2 {
		t.Errorf("%d rows are kept, %v", rows, err)
	}
}

// TestABurstOfGuesses: guesses at once do not slip by the count.
func TestABurstOfGuesses(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.member("ana@example.org", organization.Member, "")
	var mu sync.Mutex
	answers := map[string]int{}
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			_, _, err := d.SignIn(t.Context(), "ana@example.org", "wrong", here)
			mu.Lock()
			answers[refusal(err)]++
			mu.Unlock()
		})
	}
	wg.Wait()
	// Those that hash while the fifth failure is being counted, at most eight, pass too.
	if n := answers["invalid_credentials"]; n < 5 || n > 5+8 || answers["login_throttled"] != 40-n {
		t.Errorf("answers %v", answers)
	}
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		password string
		ok       bool
	}{
		{"a long enough sentence", true},
		{"elevenchars", false},
		{"zwölfzeichen", true},                                 // characters, not bytes
		{strings.Repeat("no two of us alike", 7) + "!!", true}, // 128
		{strings.Repeat("no two of us alike", 7) + "!!!", false},
		{"password1234", false},
		{"PassWord1234", false},
		{"aaaaaaaaaaaaaaaa", false},
		{"ana@example.org", false},
		{"my ana@example.org!", false},
		{"abcdefghijk\x00", false},
		{"abcdefghijkl\xff", false},
	} {
		err := accounts.CheckPassword(c.password, "Ana@example.org")
		if (err == nil) != c.ok || err != nil && refusal(err) != "weak_password" {
			t.Errorf("%q: %v", c.password, err)
		}
	}
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Member, "")
	ctx := t.Context()
	token, p, err := d.SignIn(ctx, ana.Email, password, here)
	if err != nil {
		t.Fatal(err)
	}
	other, _, _ := d.SignIn(ctx, ana.Email, password, here)
	const next = "another long sentence"
	if err := d.ChangePassword(ctx, p, "wrong", next, here); refusal(err) != "invalid_credentials" {
		t.Errorf("without the old one: %v", err)
	}
	if err := d.ChangePassword(ctx, p, password, "short", here); refusal(err) != "weak_password" {
		t.Errorf("to a short one: %v", err)
	}
	if err := d.ChangePassword(ctx, p, password, next, here); err != nil {
		t.Fatal(err)
	}
	if _, err := d.SessionPrincipal(ctx, token); err != nil {
		t.Errorf("their own session: %v", err)
	}
	if _, err := d.SessionPrincipal(ctx, other); refusal(err) != "unauthenticated" {
		t.Errorf("the other session: %v", err)
	}
	if _, _, err := d.SignIn(ctx, ana.Email, password, here); refusal(err) != "invalid_credentials" {
		t.Errorf("the old password: %v", err)
	}
	if ok, err := d.SetPassword(ctx, ana.Email, password); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, err := d.SessionPrincipal(ctx, token); refusal(err) != "unauthenticated" {
		t.Errorf("after a reset: %v", err)
	}
	if _, _, err := d.SignIn(ctx, ana.Email, password, here); err != nil {
		t.Error(err)
	}
	if ok, err := d.SetPassword(ctx, "nobody@example.org", password); ok || err != nil {
		t.Errorf("of nobody: %v, %v", ok, err)
	}
}

func TestTheSecurityLogOnlyGrows(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	if err := d.RecordSecurity(t.Context(), accounts.SecurityEntry{OrganizationID: d.org.ID, Type: "refused", Detail: "a\x00b\xff", IP: "192.0.2.1"}); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{`UPDATE security_log SET type = 'x'`, `DELETE FROM security_log`, `TRUNCATE security_log`} {
		if _, err := d.db.Exec(statement); err == nil {
			t.Errorf("%s went through", statement)
		}
	}
	log, err := d.SecurityLog(t.Context(), accounts.SecurityQuery{Organization: d.org.ID, Limit: 10})
	if err != nil || len(log) != 1 || log[0].Detail != "a\uFFFDb\uFFFD" {
		t.Errorf("log %+v, %v", log, err)
	}
}
