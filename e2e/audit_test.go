package e2e

import (
	"path/filepath"
	"slices"
	"testing"

	"muster/domain/report"
	"muster/internal/testing/pgtest"
)

// TestTheCommandLineIsSeenByAuditors: whoever works at the machine signs in
// nowhere, and what they do stands in the security log all the same.
func TestTheCommandLineIsSeenByAuditors(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana, bo := i.organization(t, "Acme"), i.organization(t, "Bolt")
	i.request(t, ana, report.Security)
	i.must(t, "admin", "reset-password", "--email", bo, "--password-file", passwordFile(t))
	seen := func(organization string, want ...string) {
		t.Helper()
		var got []string
		err := pgtest.Connect(t, i.url).Select(&got, `SELECT type || ' ' || detail FROM security_log
			WHERE organization_id = (SELECT id FROM organizations WHERE name = $1) AND component = 'command line' AND ip = '' ORDER BY id`, organization)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("seen is %q, %v, want %q", got, err, want)
		}
	}
	seen("Acme")
	i.must(t, "projections", "rebuild", "audit")
	i.must(t, "events", "export", "--in", "Acme", "--file", filepath.Join(t.TempDir(), "acme.jsonl"))
	i.must(t, "events", "export", "--log", "fleet", "--file", filepath.Join(t.TempDir(), "all.jsonl"))
	i.fail(t, []string{"events", "export", "--in", "Nobody"}, "Nobody")
	seen("Acme", "rebuildRequested projection audit", "eventsExported reports", "eventsExported fleet")
	seen("Bolt", "passwordReset ", "rebuildRequested projection audit", "eventsExported fleet")
}
