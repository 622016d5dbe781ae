package main

import (
	"regexp"
	"testing"
)

// TestFeedShow: what reports judge versions by is printed without a database, with what
// it does not know.
func TestFeedShow(t *testing.T) {
	t.Parallel()
	got := muster(t, "feed", "show", "--database-url", "postgres://nobody@127.0.0.1:1/none")
	if got.status != 0 || got.errors != "" {
		t.Fatalf("%d: %s", got.status, got.errors)
	}
	for _, line := range []string{
		`(?m)^SHA-256 [0-9a-f]{64}$`, `(?m)^postgresql +15 +2027-11-11 +15\.\d+ +\d+$`, `(?m)^sqlserver +2022 +2033-01-11 +not known +not known$`,
		`(?m)^oracle +12c Release 2 +2022-03-31 `, `(?m)^mysql +8\.4 `, `(?m)^mongodb +8\.0 `, `CVEs and latest releases of .* are not known`,
	} {
		if !regexp.MustCompile(line).MatchString(got.out) {
			t.Errorf("nothing is like %s in\n%s", line, got.out)
		}
	}
	if got := muster(t, "feed"); got.status != exitUsage {
		t.Errorf("a bare feed ends with %d", got.status)
	}
}
