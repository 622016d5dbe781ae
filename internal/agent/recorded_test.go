package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/httpapi/api"
)

// TestARecordedFolderIsSent: what an agent of 2026-11-29 kept while nobody could be reached is sent, with what its sessions did,
// who waited for whom, and the figures of transactions (testdata/recorded).
func TestARecordedFolderIsSent(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/recorded/agent.db")
	must(t, err)
	b := newBenchWith(t, func(directory string) {
		must(t, os.MkdirAll(directory, 0o700))
		must(t, os.WriteFile(filepath.Join(directory, "agent.db"), file, 0o600))
	}, taken)
	must(t, b.deliverAll())
	said := map[string]int{}
	for _, c := range b.calls {
		if c.path != samplesPath {
			continue
		}
		var batch api.SampleBatch
		d := json.NewDecoder(strings.NewReader(c.body))
		d.DisallowUnknownFields()
		must(t, d.Decode(&batch))
		for _, s := range listed(batch.Sessions) {
			for _, one := range listed(s.Activity) {
				if one.Application != nil {
					said[strings.Join([]string{"session", *one.Application, string(one.State), stringOf(one.Event)}, " ")]++
				}
			}
			if s.Deadlocks != nil {
				said["deadlocks "+s.Deadlocks.String()]++
			}
		}
		for _, s := range listed(batch.Blocking) {
			for _, n := range s.Sessions {
				said[strings.TrimSpace(strings.Join([]string{"blocking", stringOf(n.Application), stringOf(n.State)}, " "))]++
			}
		}
		for _, s := range listed(batch.Servers) {
			for _, f := range s.Figures {
				said["figure "+string(f.Figure)]++
			}
		}
		for _, s := range listed(batch.Replication) {
			said["role "+string(s.Role)]++
		}
	}
	for _, want := range []string{
		"session checkout waiting transactionid", "session billing idleInTransaction ClientRead", "session report cpu ", "deadlocks 0",
		"blocking billing idle in transaction", "blocking checkout active", "figure oldestTransaction", "figure oldestIdleInTransaction", "role primary",
	} {
		if said[want] == 0 {
			t.Errorf("nothing says %q", want)
		}
	}
	if t.Failed() {
		t.Logf("%v", said)
	}
	if waits, roots := said["blocking checkout active"], said["blocking billing idle in transaction"]; waits != 3*roots {
		t.Errorf("%d sessions wait for %d", waits, roots)
	}
	if left := b.store.checked(t).Records; left != 0 {
		t.Errorf("%d records are left", left)
	}
}

func listed[T any](of *[]T) []T {
	if of == nil {
		return nil
	}
	return *of
}

func stringOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
