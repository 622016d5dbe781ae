package accounts_test

import (
	"runtime"
	"strings"
	"testing"

	"muster/domain/organization"
	"muster/internal/accounts"
)

// TestCommonPasswordsAreRefused: those that stand on top of the published lists, as long as our rule asks for.
func TestCommonPasswordsAreRefused(t *testing.T) {
	t.Parallel()
	for _, password := range []string{
		"password1234", "Password123!", "P@ssw0rd1234", "passwordpassword", "thisismypassword", "qwerty123456", "qwertyuiop123",
		"1q2w3e4r5t6y", "q1w2e3r4t5y6", "1qaz2wsx3edc", "zaq12wsxcde3", "123456789012", "123qweasdzxc", "1234567890-=", "qwertyuiop[]",
		"iloveyou1234", "iloveyouforever", "trustno1trustno1", "letmein123456", "Summer2026!!", "christopher1", "elizabeth1985",
		"manchesterunited", "michaeljordan", "harleydavidson", "sunshine-dragon", "Football2024!", "correct horse battery staple",
		"CorrectHorseBatteryStaple", "administrator", "postgrespostgres", "unbelievable", "abcdefghijkl", "zyxwvutsrqponm", "hunter22hunter22",
		"princess-1990", "welcome-to-2026"[:12], "azertyuiop123", "passwort1234",
	} {
		if err := accounts.CheckPassword(password); refusal(err) != "weak_password" {
			t.Errorf("%q: %v", password, err)
		}
	}
	// Any composition, and several common words: only the difficulty of guessing counts.
	for _, password := range []string{
		"408392017483916572", "all lower case here", "NUR GROSSBUCHSTABEN", "日本語のパスワードは長い文です", "🐘🐢🦊🐙🦜🐝🦉🐬🦔🦎🦩🦥",
		"dragon monkey football sunshine at dawn", "x7Kq9mPzw2Lv", "my sister sings at two", "   well spaced out", "--------+a+b+c+d+e+f",
	} {
		if err := accounts.CheckPassword(password); err != nil {
			t.Errorf("%q: %v", password, err)
		}
	}
}

func TestNamesFromTheAccountAreNoPassword(t *testing.T) {
	t.Parallel()
	about := []string{"ana.ruiz@initech.example", "Ana Ruiz", "Initech Labs"}
	for _, password := range []string{
		"InitechLabs2026", "anaruiz-initech", "muster-2026-initech", "!n1techl4bs!!", "MusterScorecard1", "initech.example1", "ruiz@initech!!", "ana.ruiz@initech.example-x7Kq9mPzw2",
	} {
		if err := accounts.CheckPassword(password, about...); refusal(err) != "weak_password" {
			t.Errorf("%q: %v", password, err)
		}
	}
	if err := accounts.CheckPassword("initech owes me a stapler", about...); err != nil {
		t.Errorf("a sentence with such a word: %v", err)
	}
}

func TestPasswordsAreComparedUnchanged(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ctx := t.Context()
	long := strings.Repeat("no two of us alike", 7) // 126 characters
	for _, c := range []struct {
		name, set, given string
		in               bool
	}{
		{"the last character counts", long + "a", long + "b", false},
		{"nothing is cut off", long + "a", long, false},
		{"case counts", "An Even Longer Sentence", "an even longer sentence", false},
		{"blanks around count", " An Even Longer Sentence ", "An Even Longer Sentence", false},
		{"one letter, one or two code points", "caf\u00e9 noir, bien serr\u00e9", "cafe\u0301 noir, bien serre\u0301", true},
		{"letters that only look alike", "raspberry ice ﬁne", "raspberry ice fine", false},
	} {
		if _, err := d.SetPassword(ctx, d.once(c.name).Email, c.set); err != nil {
			t.Fatal(c.name, err)
		}
		if _, _, err := d.SignIn(ctx, d.once(c.name).Email, c.given, here); (err == nil) != c.in {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// once returns the member of that name, made when first asked for.
func (d *door) once(name string) accounts.Member {
	d.Helper()
	email := strings.ReplaceAll(name, " ", "-") + "@example.org"
	if m, ok, err := d.MemberByEmail(d.Context(), email); err != nil || ok {
		return m
	}
	return d.member(email, organization.Member, "")
}

// TestEverySignInCostsOneHash: for every address, 19 MiB are filled once, so the time reveals
// nothing either. It measures by the memory of hashing and does not run beside others.
func TestEverySignInCostsOneHash(t *testing.T) {
	d := newDoor(t)
	d.member("ana@example.org", organization.Member, "")
	d.member("invited@example.org", organization.Member, organization.Invited)
	d.member("disabled@example.org", organization.Member, organization.Disabled)
	const once = 19 << 20
	for _, c := range []struct{ email, password string }{
		{"ana@example.org", password}, {"ana@example.org", "wrong"}, {"ana@example.org", ""}, {"ana@example.org", strings.Repeat("x", 4096)},
		{"invited@example.org", password}, {"disabled@example.org", password}, {"nobody@example.org", password},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, _ = d.SignIn(t.Context(), c.email, c.password, here)
		runtime.ReadMemStats(&after)
		if spent := after.TotalAlloc - before.TotalAlloc; spent < once || spent > once+once/2 {
			t.Errorf("%s with %.10q: %d MiB of hashing", c.email, c.password, spent>>20)
		}
	}
}

func TestAHashWithOlderParametersIsReplaced(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Member, "")
	old := "$argon2id$v=19$m=8192,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$" // of the password below
	key := "GgPwQHke/afFL4+RlYt3G9AlJ7A5lMknH2h1+iAKW2o"
	stored := func() (hash string) {
		if err := d.db.Get(&hash, `SELECT password_hash FROM members WHERE id = $1`, ana.ID); err != nil {
			t.Fatal(err)
		}
		return hash
	}
	if _, err := d.db.Exec(`UPDATE members SET password_hash = $2 WHERE id = $1`, ana.ID, old+key); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.SignIn(t.Context(), ana.Email, "wrong", here); refusal(err) != "invalid_credentials" || stored() != old+key {
		t.Errorf("a wrong password: %v, %s", err, stored())
	}
	for range 2 {
		if _, _, err := d.SignIn(t.Context(), ana.Email, password, here); err != nil {
			t.Fatal(err)
		}
		if got := stored(); !strings.HasPrefix(got, "$argon2id$v=19$m=19456,t=2,p=1$") {
			t.Errorf("kept as %s", got)
		}
	}
}
