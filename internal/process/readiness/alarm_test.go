package readiness_test

import (
	"testing"
	"time"

	"muster/internal/process/readiness"
)

func TestAnAlarmRingsForAWhile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)
	a := &readiness.Alarm{Now: func() time.Time { return now }, Lasts: time.Hour}
	if err := a.Check(t.Context()); err != nil {
		t.Errorf("it rings before anything was seen: %v", err)
	}
	a.Ring("one")
	a.Ring("another")
	if now = now.Add(59 * time.Minute); a.Check(t.Context()) == nil || a.Check(t.Context()).Error() != "another" {
		t.Errorf("it says %v", a.Check(t.Context()))
	}
	if now = now.Add(time.Minute); a.Check(t.Context()) != nil {
		t.Error("it rings for ever")
	}
}
