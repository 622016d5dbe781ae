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
		`(?m)^SHA-256 [0-9a-f]{64}$`, `(?m)^postgresql +15 +2027-11-11 +15\.\d+ +not known +\d+$`, `(?m)^sqlserver +2022 +2033-01-11 +16\.0\.4265 \(CU26\) +2026-07-16 +\d+$`,
		`(?m)^sqlserver +2014 +2024-07-09 +not known +not known +not known$`,
		`(?m)^oracle +12c Release 2 +2022-03-31 `, `(?m)^mysql +8\.4 `, `(?m)^mongodb +8\.0 `, `As of 2026-08-22: of SQL Server's CVEs those of .* are known`, `of Oracle's CVEs`, `of MySQL's CVEs`, `of MongoDB's CVEs`,
	} {
		if !regexp.MustCompile(line).MatchString(got.out) {
			t.Errorf("nothing is like %s in\n%s", line, got.out)
		}
	}
	if got := muster(t, "feed"); got.status != exitUsage {
		t.Errorf("a bare feed ends with %d", got.status)
	}
}
