package demo

import (
	"strings"
	"testing"
	"time"
)

// TestTheLagMatchesTheAlerts: the second server lags by more than the threshold while an alert says so, and by
// less at all other times, but for the minutes in which the lag grows.
func TestTheLagMatchesTheAlerts(t *testing.T) {
	t.Parallel()
	thresholds := map[string]float64{"replication-lag": 60, "ongoing-lag": 60, "lock-storm-lag": 15 * 60}
	for made := time.Date(2026, 11, 23, 0, 7, 0, 0, time.UTC); made.Day() != 26; made = made.Add(7 * time.Hour) {
		from, until := made.AddDate(0, 0, -alertDays), made.AddDate(0, 0, 2)
		var says []episode
		for _, e := range episodes(made, until) {
			if e.server == followServer && strings.HasSuffix(e.rule, "-lag") {
				says = append(says, e)
			}
		}
		if len(says) < 3 {
			t.Fatalf("%d alerts: the test shows nothing", len(says))
		}
		open := false
		crowds := lagCrowds(made, from, until)
		for at := from; at.Before(until); at = at.Add(time.Minute) {
			lag, least, grows := behind(crowds, at), 0.0, false
			for _, e := range says {
				if e.has(at) {
					least = max(least, thresholds[e.rule])
				}
				grows = grows || !e.has(at) && e.has(at.Add(time.Duration(1.1*thresholds[e.rule])*time.Second))
			}
			if lag < least || least == 0 && !grows && lag > 60 {
				t.Fatalf("made %s: %.0f s at %s, alerts say more than %.0f", made, lag, at, least)
			}
			open = open || least > 0 && at.Sub(made).Abs() < time.Minute
		}
		if !open {
			t.Error("nothing lags when somebody first looks")
		}
	}
}
