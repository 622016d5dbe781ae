package alertlog_test

import (
	"testing"
	"time"

	"muster/handlers/gather/alertlog"
)

// TestAMuteEndsAtTheEarlierOfItsEnds: the announced one, or when somebody ended it; it lasts until then, and one without
// either is for good.
func TestAMuteEndsAtTheEarlierOfItsEnds(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	after := func(minutes int) *time.Time {
		at := from.Add(time.Duration(minutes) * time.Minute)
		return &at
	}
	for name, c := range map[string]struct {
		until, ended *time.Time
		last         int // minutes after the begin; 0: it does not end
	}{
		"for good":           {},
		"until a time":       {after(30), nil, 30},
		"ended before":       {after(30), after(10), 10},
		"ended after it was": {after(30), after(50), 30},
		"ended":              {nil, after(10), 10},
	} {
		a := alertlog.Alert{Mutes: []alertlog.Mute{{From: from, Until: c.until, Ended: c.ended}}}
		for minute := -1; minute < 100; minute++ {
			want := minute > 0 && (c.last == 0 || minute <= c.last)
			if got := a.MutedAt(*after(minute)); got != want {
				t.Errorf("%s: muted after %d minutes: %t", name, minute, got)
			}
		}
	}
}

// TestAnAlertIsOpenFromItsRaiseUntilItsEnd: raised at an instant, it is not open at that instant, and closed at an
// instant, it still is. So what is open at the end of one window is what is open at the start of the next.
func TestAnAlertIsOpenFromItsRaiseUntilItsEnd(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	to := from.Add(time.Hour)
	a := alertlog.Alert{RaisedAt: from, ClosedAt: &to}
	for at, want := range map[time.Time]bool{from: false, from.Add(1): true, to: true, to.Add(1): false} {
		if got := a.OpenAt(at); got != want {
			t.Errorf("open at %s: %t", at, got)
		}
	}
}
