package status

import "testing"

// TestAReasonSeparatesTheServersWords from what Muster saw.
func TestAReasonSeparatesTheServersWords(t *testing.T) {
	t.Parallel()
	refused := "Connection refused at db04:5432: wrong host or port, or the server is down."
	for sentence, want := range map[string]struct {
		seen string
		said *Said
	}{
		WithLastWords(refused, "57P01", "terminating connection due to administrator command"): {
			refused, &Said{"57P01", "terminating connection due to administrator command", true},
		},
		"db03:5432 refuses connections: sorry, too many clients already (53300).": {
			"db03:5432 refuses connections.", &Said{"53300", "sorry, too many clients already", false},
		},
		"db03:5432 refuses connections: there are too many (ORA-00020).": {
			"db03:5432 refuses connections: there are too many (ORA-00020).", nil,
		},
		"db04:5432 did not answer within 5s.": {"db04:5432 did not answer within 5s.", nil},
	} {
		seen, said := Reason{Sentence: sentence}.Said()
		if seen != want.seen || (said == nil) != (want.said == nil) || said != nil && *said != *want.said {
			t.Errorf("%q: %q and %+v", sentence, seen, said)
		}
	}
}
