package daily_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/handlers/gather/daily"
	"muster/internal/report/snapshot/day"
	"muster/internal/watch/uptime"
)

// TestFiguresMatchTheLogAndTheSamples: it draws 50 worlds and counts each figure again, from the drawn events
// and in another way: alerts by going through their moments, silence minute by minute.
func TestFiguresMatchTheLogAndTheSamples(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var slower, fresh, expires, dead int
	for n := range uint64(50) {
		w := s.drawWorld(n)
		d := w.digest()
		w.compare(n, d)
		if t.Failed() {
			return
		}
		slower, fresh, expires = slower+d.Statements.SlowAll, fresh+d.Statements.New, expires+d.Due.Expires
		if d.Muster != nil {
			dead += d.Muster.Dead
		}
	}
	if slower < 10 || fresh < 10 || expires < 10 || dead < 10 {
		t.Errorf("the worlds have %d slower and %d new statements, %d things that end, and %d jobs that were given up", slower, fresh, expires, dead)
	}
}

// same holds one figure against another calculation.
func (w *world) same(n uint64, figure string, got, want any) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("world %d: %s is %v, want %v", n, figure, got, want)
	}
}

func (w *world) compare(n uint64, d day.Digest) {
	w.t.Helper()
	w.compareAlerts(n, d)
	w.compareHearing(n, d)
	w.compareDue(n, d)
	w.compareRoom(n, d)
	w.compareDelivery(n, d)
	w.compareServers(n, d)
	w.compareStatements(n, d)
}

// standing is an alert at a time.
type standing struct {
	there, open, muted, seen bool
	over                     string
}

// at goes through the moments of an alert until a time, exclusive.
func (a drawnAlert) at(t time.Time) (s standing) {
	if !a.created.Before(t) {
		return s
	}
	s.there, s.open = true, true
	var until *time.Time
	for _, m := range a.moments {
		ends := m.what == "resolved" || m.what == "over" || m.what == "lapsed"
		at := m.at
		if ends && at.Before(a.created) {
			at = a.created
		}
		if !at.Before(t) {
			continue
		}
		switch m.what {
		case "seen":
			s.seen = true
		case "mute":
			s.muted, until = true, nil
		case "until":
			s.muted, until = true, &m.until
		case "unmute":
			s.muted = false
		default:
			if ends {
				s.open, s.over = false, m.what
			}
		}
	}
	if until != nil && until.Before(t) {
		s.muted = false
	}
	return s
}

func (w *world) compareAlerts(n uint64, d day.Digest) {
	var want day.Alerts
	jobs, held, maint, critical := 0, 0, 0, 0
	var oldest time.Time
	for _, a := range w.alerts {
		before, after := a.at(w.from), a.at(w.to)
		if !w.counts(a) {
			continue
		}
		if before.open {
			want.Start++
			if before.muted {
				want.MutedAtStart++
			}
		}
		if after.there && !before.there {
			switch a.severity {
			case "critical":
				want.Raised.Critical++
			case "warning":
				want.Raised.Warning++
			default:
				want.Raised.Info++
			}
		}
		if !after.open && after.there && (before.open || !before.there) {
			switch after.over {
			case "resolved":
				want.ByPeople++
			case "lapsed":
				want.Lapsed++
			default:
				want.ByThemselves++
			}
		}
		if after.open {
			want.End++
			if after.seen {
				want.Seen++
			}
			if after.muted {
				want.Muted++
			} else if a.severity == "critical" {
				critical++
			}
			if oldest.IsZero() || a.created.Before(oldest) {
				oldest = a.created
			}
		}
		touched := before.open || after.there && !before.there
		if touched && a.rule == "failed_jobs" {
			jobs++
		}
		againMuted := false
		for _, m := range a.moments {
			if m.what == "again" && !m.at.Before(w.from) && m.at.Before(w.to) && a.at(m.at).open && a.at(m.at).muted {
				againMuted = true
			}
		}
		dropped := slices.ContainsFunc(w.messages, func(m drawnMessage) bool {
			return m.alert == a.id && m.dropped && !m.created.Before(w.from) && m.created.Before(w.to)
		})
		switch {
		case touched && (againMuted || dropped):
			held++
		case after.there && !before.there && a.maint:
			maint++
		}
	}
	got := d.Alerts
	w.same(n, "open at start", got.Start, want.Start)
	w.same(n, "muted at start", got.MutedAtStart, want.MutedAtStart)
	w.same(n, "raised", got.Raised, want.Raised)
	w.same(n, "resolved by people", got.ByPeople, want.ByPeople)
	w.same(n, "resolved by themselves", got.ByThemselves, want.ByThemselves)
	w.same(n, "lapsed", got.Lapsed, want.Lapsed)
	w.same(n, "open at end", got.End, want.End)
	w.same(n, "acknowledged", got.Seen, want.Seen)
	w.same(n, "muted", got.Muted, want.Muted)
	w.same(n, "the balance", got.Start+got.Raised.Total()-got.Resolved(), got.End)
	w.same(n, "critical alerts", d.Verdict.Critical, critical)
	w.same(n, "failed jobs", d.Room.JobsAll, jobs)
	w.same(n, "held back by mutes", d.Held.Muted, held)
	w.same(n, "held back by maintenance", d.Held.Maintenance, maint)
	if (got.Oldest != nil) != !oldest.IsZero() || got.Oldest != nil && !got.Oldest.Created.Equal(oldest) {
		w.t.Errorf("world %d: the oldest open alert is %+v, want one of %s", n, got.Oldest, oldest)
	}
}

// silences are the minutes of a server's day in which it was not heard, in runs of at least three.
func (w *world) silences(s daily.Server) (runs [][2]int, minutes, down int) {
	total := int(w.to.Sub(w.from) / time.Minute)
	first := max(0, int(s.CreatedAt.Sub(w.from)/time.Minute))
	start := -1
	for m := first; m <= total; m++ {
		at := w.from.Add(time.Duration(m) * time.Minute)
		known := m == total
		for _, span := range w.spans[s.ID] {
			if m < total && !at.Before(span.Since) && at.Before(span.Until) {
				known = true
				if !span.Up {
					down++
				}
			}
		}
		switch {
		case !known && start < 0:
			start = m
		case known && start >= 0:
			if m-start >= 3 {
				runs, minutes = append(runs, [2]int{start, m}), minutes+m-start
			}
			start = -1
		}
	}
	return runs, minutes, down
}

func (w *world) compareHearing(n uint64, d day.Digest) {
	allDay, never := 0, 0
	seconds := map[string]int64{}
	total := int(w.to.Sub(w.from) / time.Minute)
	silent := make([]int, total) // servers that are silent in a minute
	there := make([]int, total)
	for _, s := range w.servers {
		runs, minutes, _ := w.silences(s)
		if len(runs) == 0 {
			allDay++
		} else {
			seconds[s.Name] = int64(60 * minutes)
		}
		first := max(0, int(s.CreatedAt.Sub(w.from)/time.Minute))
		if len(runs) == 1 && runs[0] == [2]int{first, total} {
			never++
		}
		for m := first; m < total; m++ {
			there[m]++
		}
		for _, run := range runs {
			for m := run[0]; m < run[1]; m++ {
				silent[m]++
			}
		}
	}
	w.same(n, "servers heard all day", d.Instruments.AllDay, allDay)
	w.same(n, "servers never heard", d.Instruments.Never, never)
	w.same(n, "servers not heard all day", len(d.Instruments.Unheard)+d.Instruments.Omitted, len(seconds))
	for _, u := range d.Instruments.Unheard {
		w.same(n, "the silence of "+u.Server, u.Seconds, seconds[u.Server])
	}
	some, nobody := 0, 0
	for m := range silent {
		if silent[m] > 0 {
			some++
		}
		if silent[m] > 0 && silent[m] == there[m] {
			nobody++
		}
	}
	w.same(n, "minutes with a silent server", minutesOf(d.Instruments.Gaps), some)
	w.same(n, "minutes in which nobody was heard", minutesOf(d.Instruments.Nobody), nobody)
}

func minutesOf(all []day.Stretch) (minutes int) {
	for _, s := range all {
		minutes += int(s.To.Sub(s.From) / time.Minute)
	}
	return minutes
}

// due is since when a finding is due at a time, if it is there and not accepted.
func (w *world) due(f drawnFinding, at time.Time) (due time.Time, ok bool) {
	days := [...]int{dueDays.Critical, dueDays.High, dueDays.Medium, dueDays.Low}[f.rank]
	for _, x := range w.exceptions {
		held := x.granted != nil && !x.granted.After(at) && at.Before(x.until) && (x.revoked == nil || at.Before(*x.revoked))
		if held && x.check == f.check && (x.server == nil || *x.server == f.server) {
			return due, false
		}
	}
	stays := [][2]*time.Time{{&f.first, f.gone}}
	if f.earlierFirst != nil {
		stays = append(stays, [2]*time.Time{f.earlierFirst, f.earlierGo})
	}
	for _, stay := range stays {
		if !at.Before(*stay[0]) && (stay[1] == nil || at.Before(*stay[1])) {
			return stay[0].AddDate(0, 0, days), true
		}
	}
	return due, false
}

func (w *world) compareDue(n uint64, d day.Digest) {
	before, overdue, coming, ends := 0, 0, 0, 0
	for _, f := range w.findings {
		if due, ok := w.due(f, w.from); ok && due.Before(w.from) {
			before++
		}
		due, ok := w.due(f, w.to)
		switch {
		case !ok:
		case due.Before(w.to):
			overdue++
		case due.Before(w.to.AddDate(0, 0, 14)):
			coming++
		}
	}
	for _, x := range w.exceptions {
		granted := x.granted != nil && x.granted.Before(w.to) && (x.revoked == nil || !x.revoked.Before(w.to))
		if granted && !x.until.Before(w.to) && x.until.Before(w.to.AddDate(0, 0, 14)) {
			ends++
		}
	}
	for _, a := range w.alerts {
		if a.rule == "certificate" && w.counts(a) && a.at(w.to).open {
			ends++
		}
	}
	for _, x := range w.tokens {
		valid := x.created.Before(w.to) && (x.revoked == nil || !x.revoked.Before(w.to))
		if w.whole && valid && !x.expires.Before(w.to) && x.expires.Before(w.to.AddDate(0, 0, 14)) {
			ends++
		}
	}
	w.same(n, "overdue", d.Due.Overdue, overdue)
	w.same(n, "overdue a day before", d.Due.Before, before)
	w.same(n, "due within 14 days", len(d.Due.Coming)+d.Due.Omitted, coming)
	w.same(n, "ending within 14 days", d.Due.Expires, ends)
}

func (w *world) compareRoom(n uint64, d day.Digest) {
	const rpo = 24 * time.Hour // the default
	late, inTime, full := 0, 0, 0
	told := map[uuid.UUID]bool{}
	for _, b := range w.backups {
		var last time.Time
		for _, end := range b.ends {
			if end.Before(w.to) && end.After(last) {
				last = end
			}
		}
		if last.IsZero() {
			continue
		}
		told[b.server] = true
		if w.to.Sub(last) > rpo {
			late++
		} else {
			inTime++
		}
	}
	for _, g := range w.growths {
		if g.days > 0 && g.days <= 14 {
			full++
		}
	}
	w.same(n, "late backups", d.Room.LateAll, late)
	w.same(n, "backups in time", d.Room.InTime, inTime)
	w.same(n, "servers without word of backups", d.Room.Untold, len(w.servers)-len(told))
	w.same(n, "full within 14 days", d.Room.FullAll, full)
	w.same(n, "measured", d.Room.Measured, len(w.growths))
}

func (w *world) compareDelivery(n uint64, d day.Digest) {
	messages, failed, waiting, before := 0, 0, 0, 0
	for _, m := range w.messages {
		of := slices.IndexFunc(w.alerts, func(a drawnAlert) bool { return a.id == m.alert })
		if m.status == "suppressed" || !w.whole && (of < 0 || !w.touches(w.alerts[of])) {
			continue
		}
		back := w.from.Add(w.from.Sub(w.to))
		switch {
		case !m.created.Before(back) && m.created.Before(w.from):
			if m.status == "failed" && m.ended.Before(w.from) {
				before++
			}
		case m.created.Before(w.from) || !m.created.Before(w.to):
		case m.status == "pending" || !m.ended.Before(w.to):
			messages++
			waiting++
		default:
			messages++
			if m.status == "failed" {
				failed++
			}
		}
	}
	w.same(n, "messages", d.Delivery.Messages, messages)
	w.same(n, "failed messages", d.Delivery.Failed, failed)
	w.same(n, "waiting messages", d.Delivery.Waiting, waiting)
	w.same(n, "failed messages of the day before", d.Delivery.Before, before)
	dead := 0
	for _, at := range w.dead {
		if !at.Before(w.from) && at.Before(w.to) {
			dead++
		}
	}
	if w.same(n, "figures of the organization", d.Muster != nil, w.whole); w.whole {
		w.same(n, "jobs that were given up", d.Muster.Dead, dead)
	}
}

// touches says whether an alert was open at some time of the day.
func (w *world) touches(a drawnAlert) bool {
	before, after := a.at(w.from), a.at(w.to)
	return w.counts(a) && (before.open || after.there && !before.there)
}

// compareStatements adds up calls and times of each statement on the day, and on as many hours before.
func (w *world) compareStatements(n uint64, d day.Digest) {
	type sums struct{ calls, ms, callsBefore, msBefore float64 }
	from, to := w.hours()
	all, first, sampled := map[string]*sums{}, map[string]time.Time{}, map[uuid.UUID]bool{}
	for _, x := range w.executed {
		ref := x.server.String() + x.key
		if at, ran := first[ref]; !ran || x.hour.Before(at) {
			first[ref] = x.hour
		}
		if !x.hour.Before(from) {
			sampled[x.server] = true
		}
		if x.key == "own" {
			continue
		}
		if all[ref] == nil {
			all[ref] = &sums{}
		}
		switch s := all[ref]; {
		case !x.hour.Before(from):
			s.calls, s.ms = s.calls+float64(x.calls), s.ms+x.ms
		case !x.hour.Before(from.Add(from.Sub(to))):
			s.callsBefore, s.msBefore = s.callsBefore+float64(x.calls), s.msBefore+x.ms
		}
	}
	slower, fresh := 0, 0
	var freshMs, allMs float64
	for ref, s := range all {
		if s.calls == 0 {
			continue
		}
		allMs += s.ms
		if s.callsBefore > 0 && s.ms/s.calls >= 2*s.msBefore/s.callsBefore {
			slower++
		}
		if !first[ref].Before(from) {
			fresh, freshMs = fresh+1, freshMs+s.ms
		}
	}
	w.same(n, "servers with statements", d.Statements.Servers, len(sampled))
	w.same(n, "slower statements", d.Statements.SlowAll, slower)
	w.same(n, "new statements", d.Statements.New, fresh)
	if fresh > 0 && allMs > 0 {
		w.same(n, "the share of new statements", *d.Statements.Share, math.Round(1000*freshMs/allMs)/10)
	}
}

func (w *world) compareServers(n uint64, d day.Digest) {
	troubled, critical := 0, 0
	for _, s := range w.servers {
		runs, _, down := w.silences(s)
		total := int(w.to.Sub(w.from) / time.Minute)
		trouble := down > 0 || len(runs) > 0 && runs[len(runs)-1][1] == total
		last := w.to.Add(-time.Nanosecond)
		grave := slices.ContainsFunc(w.spans[s.ID], func(x uptime.Span) bool {
			return !x.Up && x.Since.Before(w.to) && !x.Until.Before(w.to) && !last.Before(x.Since)
		})
		for _, a := range w.alerts {
			if at := a.at(w.to); a.server == s.ID && at.open {
				trouble = true
				grave = grave || a.severity == "critical" && !at.muted
			}
		}
		for _, f := range w.findings {
			if due, ok := w.due(f, w.to); ok && f.server == s.ID && f.rank < 2 && !due.Before(w.from) && due.Before(w.to) {
				trouble = true
				grave = grave || f.rank == 0
			}
		}
		for _, g := range w.growths {
			trouble = trouble || g.server == s.ID && g.days > 0 && g.days <= 7
		}
		for _, b := range w.backups {
			var lastEnd time.Time
			for _, end := range b.ends {
				if end.Before(w.to) && end.After(lastEnd) {
					lastEnd = end
				}
			}
			trouble = trouble || b.server == s.ID && !lastEnd.IsZero() && w.to.Sub(lastEnd) > 24*time.Hour
		}
		if trouble || grave {
			troubled++
		}
		if grave {
			critical++
		}
	}
	w.same(n, "servers with trouble", len(d.Trouble.Listed)+d.Trouble.Omitted, troubled)
	w.same(n, "servers that need somebody", d.Verdict.Needs, critical)
	w.same(n, "all servers", len(d.Trouble.Listed)+d.Trouble.Omitted+d.Trouble.Untroubled+d.Trouble.Unheard, len(w.servers))
	for _, listed := range d.Trouble.Listed {
		open, change := 0, 0
		for _, a := range w.alerts {
			if a.server != listed.Instance {
				continue
			}
			if a.at(w.to).open {
				open, change = open+1, change+1
			}
			if a.at(w.from).open {
				change--
			}
		}
		w.same(n, "alerts of "+listed.Server, listed.Open, open)
		w.same(n, "the change of "+listed.Server, listed.Change, change)
	}
}
