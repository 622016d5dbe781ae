package instant_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/domain/instant"
)

// TestTimesAreTruncatedToTheMicrosecond, in UTC and never to a later time, also before 1970. A truncated time
// is not truncated again.
func TestTimesAreTruncatedToTheMicrosecond(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(-62_135_596_800, 253_402_300_799).Draw(t, "seconds")
		zone := time.FixedZone("", rapid.IntRange(-43_200, 50_400).Draw(t, "zone"))
		at := time.Unix(seconds, rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).In(zone)
		cut := instant.Cut(at)
		if lost := at.Sub(cut); lost < 0 || lost >= time.Microsecond || cut.Nanosecond()%1000 != 0 {
			t.Fatalf("%s became %s", at, cut)
		}
		if cut.Location() != time.UTC || instant.Cut(cut) != cut || !cut.Equal(time.UnixMicro(at.UnixMicro())) {
			t.Fatalf("%s became %s", at, cut)
		}
	})
	if !instant.Cut(time.Time{}).IsZero() {
		t.Error("the zero time is no longer zero")
	}
}

// TestLaterAndEarlier work in any order and zone.
func TestLaterAndEarlier(t *testing.T) {
	t.Parallel()
	early := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	late := early.Add(time.Nanosecond).In(time.FixedZone("", -3600))
	for _, c := range [][2]time.Time{{early, late}, {late, early}} {
		if got := instant.Later(c[0], c[1]); got != late {
			t.Errorf("of %v the later is %s", c, got)
		}
		if got := instant.Earlier(c[0], c[1]); got != early {
			t.Errorf("of %v the earlier is %s", c, got)
		}
	}
}
