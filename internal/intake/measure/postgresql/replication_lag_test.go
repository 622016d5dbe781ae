package postgresql

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// lags are what a reader makes of looks at a server, in the server's own form: "-" is not known.
func lags(t *testing.T, looks ...string) string {
	t.Helper()
	r := &reader{now: time.Now}
	var said []string
	for _, look := range looks {
		var of told
		if err := json.Unmarshal([]byte(look), &of); err != nil {
			t.Fatalf("%s: %v", look, err)
		}
		s := r.replicationOf(&of, time.Now())
		lag := s.LagSeconds
		if len(s.Peers) > 0 {
			lag = s.Peers[0].LagSeconds
		}
		if lag == nil {
			said = append(said, "-")
		} else {
			said = append(said, fmt.Sprintf("%.1f", *lag))
		}
	}
	return strings.Join(said, " ")
}

// standbyAt is a look at a standby that has applied the log up to a position, the last commit of which was made at a
// time. Its sender last wrote at a position and a time, and its clock is behind the standby's by some seconds.
func standbyAt(now, replayed int, committed float64, end int, written, behind float64) string {
	return fmt.Sprintf(`{"standby": true, "configured": true, "now": %d, "lsn": %d, "replayed": %d, "replayedAt": %g, "receiver": {"status": "streaming",
		"end": %d, "endSent": %g, "sent": %g, "received": %d}}`, now, end, replayed, committed, end, written-behind, float64(now)-behind, now)
}

// primaryAt is a look at a primary that writes at a position. A standby has not applied some bytes of it, and reports a
// lag ("null": none).
func primaryAt(now, lsn, behind int, reported string) string {
	return fmt.Sprintf(`{"now": %d, "lsn": %d, "peers": [{"name": "two", "state": "streaming", "behind": %d, "lag": %s}]}`, now, lsn, behind, reported)
}

// TestLags: a lag that cannot be told is unknown and not zero, and nobody lags because nobody writes.
func TestLags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		looks []string
		want  string
	}{
		"a standby has applied everything, and nobody has committed for an hour": {
			[]string{standbyAt(5000, 100, 1400, 100, 1400, 0), standbyAt(5060, 100, 1400, 100, 1400, 0)}, "0.0 0.0",
		},
		"a checkpoint of an idle primary is not applied yet": {
			[]string{standbyAt(5000, 100, 1400, 100, 1400, 0), standbyAt(5060, 100, 1400, 200, 5059.5, 0)}, "0.0 0.5",
		},
		"the first look at a standby that has not applied everything": {
			[]string{standbyAt(5000, 100, 4900, 200, 4999, 0)}, "-",
		},
		"the first look, and it applied what was committed just now": {
			[]string{standbyAt(5000, 100, 4999.5, 200, 4999.9, 0)}, "0.5",
		},
		"it applies all the time what was committed ten minutes before": {
			[]string{standbyAt(5000, 100, 4400, 500, 4999, 0), standbyAt(5060, 150, 4460, 600, 5059, 0), standbyAt(5120, 200, 4520, 700, 5119, 0)}, "- 600.0 600.0",
		},
		"its clock is five minutes ahead": {
			[]string{standbyAt(5000, 100, 4690, 110, 4999, 300), standbyAt(5060, 150, 4750, 160, 5059, 300)}, "- 10.0",
		},
		"its clock is five minutes behind": {
			[]string{standbyAt(5000, 100, 5290, 110, 4999, -300), standbyAt(5060, 150, 5350, 160, 5059, -300)}, "- 10.0",
		},
		"it is paused": {
			[]string{standbyAt(5000, 100, 4999, 100, 4999, 0), standbyAt(5060, 100, 4999, 200, 5030, 0), standbyAt(5120, 100, 4999, 300, 5119, 0)}, "0.0 30.0 90.0",
		},
		"its clock is ahead while it is paused": {
			[]string{standbyAt(5000, 100, 4699, 100, 4999, 300), standbyAt(5060, 100, 4699, 200, 5030, 300)}, "0.0 30.0",
		},
		"it has had no word from its sender for ten minutes": {
			[]string{strings.Replace(standbyAt(5000, 100, 4400, 100, 4400, 0), `"received": 5000`, `"received": 4400`, 1)}, "-",
		},
		"it does not stream": {
			[]string{strings.Replace(standbyAt(5000, 100, 4400, 100, 4400, 0), "streaming", "waiting", 1)}, "-",
		},
		"it is another server now": {
			[]string{standbyAt(5000, 100, 4900, 500, 4999, 0), standbyAt(5060, 10, 4900, 50, 5059, 0)}, "- -",
		},
		"who follows has applied everything":                         {[]string{primaryAt(5000, 100, 0, "null")}, "0.0"},
		"who follows reports no lag at the first look":               {[]string{primaryAt(5000, 100, 40, "null"), primaryAt(5060, 200, 140, "null")}, "- 60.0"},
		"who follows reports a lag":                                  {[]string{primaryAt(5000, 100, 40, "2.5")}, "2.5"},
		"who follows is paused, and reports what it did before that": {[]string{primaryAt(5000, 100, 40, "0.1"), primaryAt(5090, 200, 140, "0.1")}, "0.1 90.0"},
		"what is not applied was written since the look before":      {[]string{primaryAt(5000, 100, 0, "null"), primaryAt(5060, 200, 100, "null")}, "0.0 -"},
		"a standby of a standby that is told no position": {[]string{
			`{"standby": true, "configured": true, "now": 1, "peers": [{"name": "two", "state": "streaming", "behind": 9, "lag": null}]}`,
		}, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := lags(t, c.looks...); got != c.want {
				t.Errorf("the lags are %s, want %s", got, c.want)
			}
		})
	}
}
