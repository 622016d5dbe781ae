package daily

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/handlers/gather/alertlog"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/day"
	"muster/internal/watch"
)

// ranks are the levels of trouble, from the worst.
var ranks = []day.Level{day.Critical, day.High, day.Unknown, day.Medium}

func rank(l day.Level) int { return slices.Index(ranks, l) }

// complaint is one thing that is wrong with a server.
type complaint struct {
	level  day.Level
	what   string
	since  time.Time
	alert  *uuid.UUID
	advice string
}

// compare puts the worst first; of equals the one that is newer, because it is not known yet.
func (c complaint) compare(o complaint) int {
	return cmp.Or(cmp.Compare(rank(c.level), rank(o.level)), o.since.Compare(c.since), strings.Compare(c.what, o.what))
}

// complaints are what is wrong with each server at the end of the day.
func (f *facts) complaints(heard map[uuid.UUID]hearing) map[uuid.UUID][]complaint {
	all := map[uuid.UUID][]complaint{}
	add := func(id uuid.UUID, c complaint) { all[id] = append(all[id], c) }
	for _, s := range f.Servers {
		f.ofHearing(heard[s.ID], s, add)
	}
	for _, a := range f.alerts {
		f.ofAlert(a, heard, add)
	}
	for _, x := range f.open(f.To) {
		if x.Rank > 1 || !f.Within(&x.due) {
			continue
		}
		c := complaint{level: day.Critical, what: object(x.Object) + f.checkTitle(x.CheckID) + ", overdue", since: x.due}
		if x.Rank == 1 {
			c.level = day.High
		}
		add(x.Instance, c)
	}
	f.ofRoom(add)
	for id := range all {
		slices.SortStableFunc(all[id], complaint.compare)
	}
	return all
}

func object(name string) string {
	if name == "" {
		return ""
	}
	return name + ": "
}

// ofHearing adds that a server is down, or that it is not heard.
func (f *facts) ofHearing(h hearing, s Server, add func(uuid.UUID, complaint)) {
	switch {
	case h.never:
		add(s.ID, complaint{level: day.Unknown, what: "Not heard all day: nobody knows how it is", since: h.gaps[0].From})
	case still(h.gaps, f.To):
		add(s.ID, complaint{level: day.Unknown, what: "Not heard any more: nobody knows how it is", since: h.gaps[len(h.gaps)-1].From})
	}
	if len(h.downs) == 0 {
		return
	}
	last := h.downs[len(h.downs)-1]
	switch {
	case !last.To.Before(f.To):
		since := last.From
		for _, span := range f.spans[s.ID] { // it may have been down before the day began
			if !span.Up && !span.Until.Before(f.To) {
				since = span.Since.UTC()
			}
		}
		add(s.ID, complaint{level: day.Critical, what: "Down", since: since, advice: "See why it takes no connections, and start it."})
	default:
		var total time.Duration
		for _, d := range h.downs {
			total += d.To.Sub(d.From)
		}
		add(s.ID, complaint{level: day.Medium, what: "Was down for " + day.Lasting(total), since: last.From})
	}
}

// ofAlert adds an open alert to each of its servers. That a server is down or silent is said by what was
// heard of it, if that says so too.
func (f *facts) ofAlert(a *alertlog.Alert, heard map[uuid.UUID]hearing, add func(uuid.UUID, complaint)) {
	if !a.OpenAt(f.To) {
		return
	}
	c := complaint{level: day.Medium, what: f.titleOf(a), since: a.RaisedAt, alert: &a.ID}
	switch {
	case a.MutedAt(f.To):
		c.what += " (muted)"
	case a.Severity == alert.Critical:
		c.level = day.Critical
	case a.Severity == alert.Warning:
		c.level = day.High
	}
	if rule, ok := watch.Find(a.Rule); ok {
		c.advice = rule.Advice
	}
	for _, s := range f.Servers {
		if !slices.Contains(a.Servers, s.ID) {
			continue
		}
		h := heard[s.ID]
		known := a.Rule == string(watch.Down) && still(h.downs, f.To) || a.Rule == string(watch.Silent) && still(h.gaps, f.To)
		if !known {
			add(s.ID, c)
		}
	}
}

// ofRoom adds what is full soon, and backups that are late.
func (f *facts) ofRoom(add func(uuid.UUID, complaint)) {
	soon, _, _ := f.fills()
	for _, fill := range soon {
		if *fill.Days > urgentFull {
			continue
		}
		for _, s := range f.sizes {
			if of, _ := f.fill(s); of.On != fill.On || s.Name != fill.Name {
				continue
			}
			for _, id := range s.Servers {
				add(id, complaint{level: day.High, what: fmt.Sprintf("%s at %s%%, full in %s", fill.Name, day.Number(fill.Percent), day.Days(*fill.Days)), since: f.To})
			}
		}
	}
	late, _, _ := f.lateBackups()
	told := map[uuid.UUID]bool{}
	for _, b := range late { // the oldest of each server
		if !told[b.Instance] {
			told[b.Instance] = true
			add(b.Instance, complaint{level: day.High, what: day.LateBackup(b), since: f.To.Add(-time.Duration(b.Seconds-b.Limit) * time.Second)})
		}
	}
}

// trouble lists the servers, the worst first.
func (f *facts) trouble(heard map[uuid.UUID]hearing) (t day.Trouble) {
	complaints := f.complaints(heard)
	var all []day.Troubled
	for _, s := range f.Servers {
		of := complaints[s.ID]
		if len(of) == 0 {
			if len(heard[s.ID].gaps) > 0 {
				t.Unheard++
			} else {
				t.Untroubled++
			}
			continue
		}
		one := day.Troubled{Instance: s.ID, Server: s.Name, Owner: s.Owner, Level: of[0].level, Since: of[0].since.UTC(), Alert: of[0].alert}
		for _, c := range of[:min(len(of), 2)] {
			one.What = append(one.What, c.what)
		}
		one.More = len(of) - len(one.What)
		for _, a := range f.alerts {
			if !slices.Contains(a.Servers, s.ID) {
				continue
			}
			if a.OpenAt(f.To) {
				one.Open++
				if a.MutedAt(f.To) {
					one.Muted++
				}
			}
			if a.OpenAt(f.From) {
				one.Change--
			}
		}
		one.Change += one.Open
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b day.Troubled) int {
		return cmp.Or(cmp.Compare(rank(a.Level), rank(b.Level)), b.Since.Compare(a.Since), strings.Compare(a.Server, b.Server))
	})
	n := min(len(all), day.MostServers)
	t.Listed, t.Omitted = all[:n], len(all)-n
	return t
}

// verdict sums the day up.
func (f *facts) verdict(heard map[uuid.UUID]hearing, d day.Digest) (v day.Verdict) {
	complaints := f.complaints(heard)
	worst := day.Quiet
	for _, of := range complaints {
		level := of[0].level
		if level == day.Critical {
			v.Needs++
		}
		if worst == day.Quiet || rank(level) < rank(worst) {
			worst = level
		}
	}
	for _, a := range f.alerts {
		if a.OpenAt(f.To) && a.Severity == alert.Critical && !a.MutedAt(f.To) {
			v.Critical++
		}
	}
	v.Unheard = len(f.Servers) - d.Instruments.AllDay
	switch {
	case len(f.Servers) == 0:
		v.Level = day.Nothing
	case d.Instruments.Never == len(f.Servers):
		v.Level = day.Unknown
	case v.Critical > 0:
		v.Level = day.Critical
	case worst == day.Quiet && v.Unheard > 0:
		v.Level = day.Unknown
	default:
		v.Level = worst
	}
	v.First = f.first(complaints, d)
	return v
}

// first is what to do first: about the worst server, else about what has been overdue for longest.
func (f *facts) first(complaints map[uuid.UUID][]complaint, d day.Digest) *day.First {
	if len(d.Trouble.Listed) > 0 && d.Trouble.Listed[0].Level != day.Medium {
		at := d.Trouble.Listed[0]
		c := complaints[at.Instance][0]
		return &day.First{Server: at.Server, Instance: &at.Instance, Alert: c.alert, What: c.what, Advice: firstSentence(c.advice), Owner: at.Owner, Since: c.since.UTC()}
	}
	if o := d.Due.OldestOverdue; o != nil && (o.Severity == analysis.Critical || o.Severity == analysis.High) {
		return &day.First{Server: o.Server, Instance: &o.Instance, What: object(o.Object) + o.Title + ", overdue", Owner: o.Owner, Since: o.Due}
	}
	return nil
}

func firstSentence(text string) string {
	if at := strings.Index(text, ". "); at >= 0 {
		return text[:at+1]
	}
	return text
}

// checkTitle is what is wrong where a check fails.
func (f *facts) checkTitle(id string) string {
	if c, ok := f.catalogue.Check(id); ok {
		return c.Title
	}
	return id
}
