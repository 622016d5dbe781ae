package measure

import (
	"testing"
	"time"
)

func TestBusyBetween(t *testing.T) {
	t.Parallel()
	look := func(started int64, active map[uint32]ActiveTime) *List {
		return &List{Before: Clocks{Started: started}, After: Clocks{Started: started}, Active: active}
	}
	before := look(1, map[uint32]ActiveTime{5: {Ms: 40, Reset: 7}})
	busy := func(ms float64) *float64 { return &ms }
	for _, c := range []struct {
		name string
		last *List
		now  *List
		want *float64
	}{
		{"went on", before, look(1, map[uint32]ActiveTime{5: {Ms: 42.5, Reset: 7}}), busy(2.5)},
		{"did nothing", before, look(1, map[uint32]ActiveTime{5: {Ms: 40, Reset: 7}}), busy(0)},
		{"was reset, and executed for longer than before", before, look(1, map[uint32]ActiveTime{5: {Ms: 90, Reset: 8}}), nil},
		{"fell", before, look(1, map[uint32]ActiveTime{5: {Ms: 39, Reset: 7}}), nil},
		{"was restarted", before, look(2, map[uint32]ActiveTime{5: {Ms: 42, Reset: 7}}), nil},
		{"is new", look(1, map[uint32]ActiveTime{6: {}}), look(1, map[uint32]ActiveTime{5: {Ms: 2}}), nil},
		{"is gone", before, look(1, map[uint32]ActiveTime{6: {}}), nil},
		{"of a server that does not count it", look(1, nil), look(1, nil), nil},
	} {
		got := busyBetween(c.last, c.now, 5)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Texts of listed statements are sent once, and again after a day: an organization may have
// switched them off for less than a minute.
func TestTextsAreSentOnceADay(t *testing.T) {
	t.Parallel()
	one, two, three := Ref{5, Statement{1}}, Ref{5, Statement{2}}, Ref{5, Statement{3}}
	last := lookAt(0, nil, entry(1, 1, 1, 0), entry(2, 1, 1, 0))
	last.Told, last.ToldSince = map[Ref]bool{one: true, two: true}, last.At
	now := lookAt(60, nil, entry(1, 2, 2, 0), entry(3, 1, 9, 0))
	deltas, _ := deltasBetween(last, now)
	now.inherit(last)
	if got := now.untold(deltas); len(got) != 1 || got[0] != three || now.Told[two] || !now.ToldSince.Equal(last.At) {
		t.Errorf("untold are %v, told %v since %s", got, now.Told, now.ToldSince)
	}
	last.ToldSince = now.At.Add(-textsAgain)
	now.Told, now.ToldSince = nil, time.Time{}
	now.inherit(last)
	if got := now.untold(deltas); len(got) != 2 || got[0] != three || got[1] != one {
		t.Errorf("a day later untold are %v", got)
	}
}
