package alertmanager_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"muster/internal/notify/channel"
	"muster/internal/notify/channel/alertmanager"
)

// TestAnAlertIsOverAfterItBegan, whatever clocks say: an Alertmanager refuses one that is not.
func TestAnAlertIsOverAfterItBegan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	for name, a := range map[string]channel.Fed{
		"as it should be": {StartsAt: now.Add(-time.Minute), EndsAt: now}, "a clock that is ahead": {StartsAt: now.Add(time.Minute), EndsAt: now},
	} {
		body, err := alertmanager.Alerts([]channel.Fed{a}, "Acme", "https://muster.example.org")
		var posted []struct{ StartsAt, EndsAt time.Time }
		if err := errors.Join(err, json.Unmarshal(body, &posted)); err != nil || posted[0].EndsAt.Before(posted[0].StartsAt) || !posted[0].EndsAt.Equal(now) {
			t.Errorf("%s: %s, %v", name, body, err)
		}
	}
}
