package analysis

import (
	"testing"

	"muster/internal/report/snapshot"
)

func TestATitleMatchesTheResultBesideIt(t *testing.T) {
	t.Parallel()
	fsync := snapshot.Check{Title: "fsync is off", Passed: "fsync is on"}
	rules := snapshot.Check{Title: "HBA rule open to any address", Passed: "No HBA rule is open to any address"}
	tls := snapshot.Check{Title: "TLS is off", Passed: "TLS is on"}
	old := snapshot.Check{Title: "TLS is off"}
	for _, test := range []struct {
		check        snapshot.Check
		status, want string
	}{
		{fsync, snapshot.StatusPass, "fsync is on"},
		{fsync, snapshot.StatusFail, "fsync is off"},
		{fsync, snapshot.StatusAccepted, "fsync is off"},
		{fsync, snapshot.StatusNotAssessed, "Whether fsync is on"},
		{rules, snapshot.StatusNotAssessed, "Whether no HBA rule is open to any address"},
		{tls, snapshot.StatusNotApplicable, "Whether TLS is on"},
		{old, snapshot.StatusPass, "TLS is off"},
	} {
		if got := Title(test.check, test.status); got != test.want {
			t.Errorf("%s: %q, want %q", test.status, got, test.want)
		}
	}
}
