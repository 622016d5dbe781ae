package accounts_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/domain/organization"
	"muster/internal/accounts"
)

func from(ip string) accounts.Client {
	return accounts.Client{IP: ip, UserAgent: "test", RequestID: "r-2"}
}

// TestFailuresOfOthersDoNotLockTheOwnerOut: failures under a member's name from all over the world delay the
// world, and not the member at a known address.
func TestFailuresOfOthersDoNotLockTheOwnerOut(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.member("ana@example.org", organization.Member, "")
	desk, hotel := from("192.0.2.1"), from("198.51.100.9")
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, desk); err != nil {
		t.Fatal(err)
	}
	crowd := func(n int) {
		for i := range n {
			_, _, err := d.SignIn(t.Context(), "ana@example.org", "wrong", from(fmt.Sprintf("203.0.113.%d", i)))
			if code := refusal(err); code != "invalid_credentials" && code != "login_throttled" {
				t.Fatal(err)
			}
		}
	}
	crowd(8)
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, hotel); refusal(err) != "login_throttled" {
		t.Errorf("at an address that she never used: %v", err)
	}
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, desk); err != nil {
		t.Errorf("at her desk: %v", err)
	}
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, hotel); refusal(err) != "login_throttled" {
		t.Errorf("her sign-in at the desk forgave the crowd: %v", err)
	}
	// At the desk guesses are counted like anywhere.
	for range 5 {
		_, _, _ = d.SignIn(t.Context(), "ana@example.org", "wrong", desk)
	}
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, desk); refusal(err) != "login_throttled" {
		t.Errorf("after five failures at the desk: %v", err)
	}
	// Nobody waits longer than five minutes, however often others fail meanwhile.
	d.advance(5*time.Minute + time.Second)
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, hotel); err != nil {
		t.Errorf("after five minutes: %v", err)
	}
	d.advance(31 * 24 * time.Hour)
	crowd(8)
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, desk); refusal(err) != "login_throttled" {
		t.Errorf("the desk is known after a month away: %v", err)
	}
}

// TestAResetLiftsTheThrottleEverywhere: a member whom an administrator helps does not wait on, neither at a
// desk that is known, where failures are counted apart, nor elsewhere.
func TestAResetLiftsTheThrottleEverywhere(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.member("ana@example.org", organization.Member, "")
	desk, hotel := from("192.0.2.1"), from("198.51.100.9")
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, desk); err != nil {
		t.Fatal(err)
	}
	for _, place := range []accounts.Client{desk, hotel} {
		for range 6 {
			_, _, _ = d.SignIn(t.Context(), "ana@example.org", "wrong", place)
		}
		if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, place); refusal(err) != "login_throttled" {
			t.Errorf("before, from %s: %v", place.IP, err)
		}
	}
	if ok, err := d.SetPassword(t.Context(), "ana@example.org", password); !ok || err != nil {
		t.Fatal(err)
	}
	for _, place := range []accounts.Client{desk, hotel} {
		if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, place); err != nil {
			t.Errorf("afterwards, from %s: %v", place.IP, err)
		}
	}
}

func TestABrowserKeepsItsNameShort(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Member, "")
	client := from("192.0.2.1")
	client.UserAgent = "x" + strings.Repeat("ü", 5000)
	if _, _, err := d.StartSession(t.Context(), ana.ID, accounts.MethodPassword, client); err != nil {
		t.Fatal(err)
	}
	sessions, err := d.Sessions(t.Context(), ana.ID)
	if err != nil || len(sessions) != 1 || len(sessions[0].UserAgent) > 260 {
		t.Errorf("%v, %v", sessions, err)
	}
}

// TestANetworkIsOneAddress: the owner of an IPv6 network has 2^64 addresses.
func TestANetworkIsOneAddress(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.member("ana@example.org", organization.Member, "")
	for i := range 20 {
		_, _, err := d.SignIn(t.Context(), fmt.Sprintf("nobody%d@example.org", i), "wrong", from(fmt.Sprintf("2001:db8:1:2::%x", i+1)))
		if refusal(err) != "invalid_credentials" {
			t.Fatal(err)
		}
	}
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, from("2001:db8:1:2:ffff::1")); refusal(err) != "login_throttled" {
		t.Errorf("from the same network: %v", err)
	}
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, from("2001:db8:1:3::1")); err != nil {
		t.Errorf("from the next network: %v", err)
	}
}

func TestRefusedSignInsDoNotFillTheSecurityLog(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Member, "")
	entry := accounts.SecurityEntry{Type: accounts.SignInRefused, Once: true}
	for i := range 3000 {
		entry.IP = fmt.Sprintf("10.%d.%d.1", i/250, i%250)
		if err := d.RecordSecurity(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
	}
	if n := d.logged(accounts.SignInRefused); n > 1024 || n < 700 {
		t.Errorf("3000 addresses in an hour made %d entries", n)
	}
	refused := accounts.SecurityEntry{OrganizationID: d.org.ID, MemberID: ana.ID, Type: accounts.Refused, Detail: "role: GET /x", Once: true}
	for range 3 { // hours
		for range 50 {
			if err := d.RecordSecurity(t.Context(), refused); err != nil {
				t.Fatal(err)
			}
		}
		d.advance(time.Hour)
	}
	refused.Detail = "role: GET /y"
	if err := d.RecordSecurity(t.Context(), refused); err != nil {
		t.Fatal(err)
	}
	if n := d.logged(accounts.Refused); n != 4 {
		t.Errorf("one route in three hours and another once made %d entries", n)
	}
	// Of the throttled it says once that they are.
	for range 30 {
		_, _, _ = d.SignIn(t.Context(), "ana@example.org", "wrong", here)
	}
	if refused, throttled := d.logged(accounts.SignInRefused), d.logged(accounts.SignInThrottled); throttled != 1 {
		t.Errorf("thirty attempts: %d refused, %d throttled", refused, throttled)
	}
}

func (d *door) logged(entryType string) (n int) {
	d.Helper()
	if err := d.db.Get(&n, `SELECT count(*) FROM security_log WHERE type = $1`, entryType); err != nil {
		d.Fatal(err)
	}
	return n
}

func TestTheLogForgetsAddresses(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Member, "")
	for range 2 {
		if _, _, err := d.SignIn(t.Context(), ana.Email, password, here); err != nil {
			t.Fatal(err)
		}
		d.advance(200 * 24 * time.Hour)
	}
	d.advance(2 * 24 * time.Hour)
	if err := d.RecordSystem(t.Context(), accounts.KeysRotated, "key 2"); err != nil {
		t.Fatal(err)
	}
	if err := d.RecordSecurity(t.Context(), accounts.SecurityEntry{OrganizationID: d.org.ID, Type: accounts.SignedOut, IP: "192.0.2.5"}); err != nil {
		t.Fatal(err)
	}
	log, err := d.SecurityLog(t.Context(), accounts.SecurityQuery{Organization: d.org.ID, Limit: 10})
	if err != nil || len(log) != 4 {
		t.Fatal(log, err)
	}
	for i, ip := range []string{"192.0.2.5", "", "192.0.2.1", ""} {
		if log[i].IP != ip {
			t.Errorf("entry %d has the address %q, want %q", i, log[i].IP, ip)
		}
	}
	if system := log[1]; system.Type != accounts.KeysRotated || system.Component != accounts.CommandLine || system.Detail != "key 2" {
		t.Errorf("what was done on the command line is %+v", system)
	}
	for _, statement := range []string{
		`UPDATE security_log SET ip = '', type = 'x'`, `UPDATE security_log SET ip = 'another'`, `UPDATE security_log SET member_id = NULL WHERE member_id IS NOT NULL`,
	} {
		if _, err := d.db.Exec(statement); err == nil {
			t.Errorf("%s went through", statement)
		}
	}
}

func TestTheOldestSessionMakesRoom(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Member, "")
	var tokens []string
	for range accounts.MaxSessions + 2 {
		token, _, err := d.StartSession(t.Context(), ana.ID, accounts.MethodPassword, here)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
		d.advance(time.Second)
	}
	if sessions, err := d.Sessions(t.Context(), ana.ID); err != nil || len(sessions) != accounts.MaxSessions {
		t.Errorf("%d sessions, %v", len(sessions), err)
	}
	for i, token := range tokens {
		_, err := d.SessionPrincipal(t.Context(), token)
		if ended := refusal(err) == "unauthenticated"; ended != (i < 2) {
			t.Errorf("session %d: %v", i, err)
		}
	}
}

func TestFiveMinutesAreTheLongestWait(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.member("ana@example.org", organization.Member, "")
	for i := range 14 {
		_, _, err := d.SignIn(t.Context(), "ana@example.org", "wrong", here)
		var r *accounts.Refusal
		if !errors.As(err, &r) || r.RetryAfter > 5*time.Minute+time.Second {
			t.Fatalf("attempt %d: %v, wait %s", i+1, err, r.RetryAfter)
		}
		d.advance(r.RetryAfter) // not a moment longer
	}
	d.advance(5 * time.Minute)
	if _, _, err := d.SignIn(t.Context(), "ana@example.org", password, here); err != nil {
		t.Error(err)
	}
}
