package nights

import (
	"testing"
	"time"

	"muster/internal/measurements/backups"
)

// TestABackupEndsAfterAllFailures: also if the second of them begins in the first one.
func TestABackupEndsAfterAllFailures(t *testing.T) {
	t.Parallel()
	at := func(hours float64) time.Time {
		return time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC).Add(time.Duration(hours * float64(time.Hour)))
	}
	s := Subject{Whole: backups.Full, Logs: backups.Log, Failed: []Between{{at(0), at(4)}, {at(3), at(9)}}, LogFailed: []Between{{at(10), at(12)}, {at(9.5), at(11)}}}
	for _, test := range []struct{ at, whole, log float64 }{{8, -24 + 2 + 41.0/60, 8}, {9, 9, 9}, {10.6, 9, 9.5}, {11.5, 9, 9.5}, {12, 9, 12}} {
		var whole, log time.Time
		for _, b := range s.Of(at(test.at)) {
			if b.Kind == backups.Full && b.FinishedAt.After(whole) {
				whole = b.FinishedAt
			} else if b.Kind == backups.Log {
				log = b.FinishedAt
			}
		}
		if whole.Sub(at(test.whole)).Abs() > time.Second || !log.Equal(at(test.log)) {
			t.Errorf("at %v: full %s, log %s", test.at, whole, log)
		}
	}
}
