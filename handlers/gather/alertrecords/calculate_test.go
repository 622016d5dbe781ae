package alertrecords_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/alertsum"
)

// figures are all that a summary prints, in a form that two calculations can have.
type figures struct {
	All                        snapshot.AlertSum
	ByItself                   int
	Severities, Servers, Rules map[string]snapshot.AlertSum
	Days                       []string
	Ack, Resolve               map[string]string
	RuleNoise, ServerNoise     map[string]string
	Told                       map[string]int
	Alone, CriticalUntold      int
	Mutes                      []string
	Acknowledged               map[string]string // by alert: by whom
	Channels                   map[string]string
}

// printed are the figures of a document.
func printed(doc snapshot.Document) figures {
	b := alertsum.BalanceOf(doc)
	f := figures{All: b.All, ByItself: b.ByItself, Severities: rowsOf(b.Severities), Servers: rowsOf(b.Servers), Rules: rowsOf(b.Rules),
		Ack: map[string]string{}, Resolve: map[string]string{}, RuleNoise: map[string]string{}, ServerNoise: map[string]string{},
		Acknowledged: map[string]string{}, Channels: map[string]string{}}
	for _, d := range b.Days {
		f.Days = append(f.Days, fmt.Sprint(d.Start.Unix(), d.Raised, d.Resolved, d.Open))
	}
	for _, s := range []string{"", "info", "warning", "critical"} {
		a, r := alertsum.TimesToAcknowledge(doc, s), alertsum.TimesToResolve(doc, s)
		f.Ack[s], f.Resolve[s] = timesText(a), timesText(r)
	}
	for _, n := range alertsum.Rules(doc) {
		f.RuleNoise[n.Name] = fmt.Sprint(n.Raised, n.ByItself, n.Acknowledged, n.Reopened, n.Never, n.Others)
	}
	for _, n := range alertsum.Servers(doc) {
		f.ServerNoise[n.Name] = fmt.Sprint(n.Raised, n.ByItself, n.Acknowledged, n.Reopened, n.Never, n.Others)
	}
	t := alertsum.ToldOf(doc)
	f.Told, f.Alone, f.CriticalUntold = t.ByOutcome, t.Alone, t.Critical
	for _, a := range doc.AlertRecords.Listed {
		for _, m := range a.Mutes {
			f.Mutes = append(f.Mutes, muteText(a.ID, m.By.Name, m.From, m.Until, m.Ended))
		}
		if a.AcknowledgedBy != nil {
			f.Acknowledged[a.ID.String()] = a.AcknowledgedBy.Name
		}
	}
	slices.Sort(f.Mutes)
	for _, c := range doc.AlertRecords.Channels {
		f.Channels[c.ID.String()] = fmt.Sprint(c.Sent, c.Failed)
	}
	return f
}

func rowsOf(rows []alertsum.Row) map[string]snapshot.AlertSum {
	out := map[string]snapshot.AlertSum{}
	for _, r := range rows {
		if r.AlertSum != (snapshot.AlertSum{}) {
			out[r.Name] = r.AlertSum
		}
	}
	return out
}

func timesText(t alertsum.Times) string {
	return fmt.Sprint(t.Happened, t.Censored, t.Over, t.Median, t.Ninetieth)
}

func muteText(id uuid.UUID, by string, from time.Time, until, ended *time.Time) string {
	text := fmt.Sprint(id, by, from.Unix())
	for _, at := range []*time.Time{until, ended} {
		if at == nil {
			text += " -"
		} else {
			text += fmt.Sprint(" ", at.Unix())
		}
	}
	return text
}

// fact is a row of the log, as text.
type fact struct {
	Stream   uuid.UUID `db:"stream_id"`
	Kind     string    `db:"stream_type"`
	Type     string    `db:"type"`
	Recorded time.Time `db:"recorded_at"`
	Occurred time.Time `db:"occurred_at"`
	Data     string    `db:"data"`
	Metadata string    `db:"metadata"`
	body     map[string]any
}

// when is a time in the fact, not later than its record.
func (f fact) when(key string) time.Time {
	text, _ := f.body[key].(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.After(f.Recorded) {
		return f.Recorded
	}
	return at
}

// life is an alert as the calculation sees it.
type life struct {
	id, server                  uuid.UUID
	rule, severity              string
	from, to                    time.Time // to is far ahead while it is open
	self, maintenance           bool
	acked                       *time.Time
	ackedBy                     string
	again                       int
	mutes                       []string
	raised, resolved, start, at bool
}

var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// calculate comes to the figures by the log alone.
func calculate(t *testing.T, db *sqlx.DB, w *world) figures {
	t.Helper()
	var facts []fact
	if err := db.Select(&facts, `SELECT stream_id, stream_type, type, recorded_at, occurred_at, convert_from(data, 'UTF8') AS data, convert_from(metadata, 'UTF8') AS metadata
		FROM events WHERE organization_id = $1 AND recorded_at < $2 ORDER BY recorded_at, version`, w.id, w.window.To); err != nil {
		t.Fatal(err)
	}
	of, order := map[uuid.UUID][]fact{}, []uuid.UUID{}
	for _, f := range facts {
		if err := json.Unmarshal([]byte(f.Data), &f.body); err != nil {
			t.Fatal(err)
		}
		if of[f.Stream] == nil {
			order = append(order, f.Stream)
		}
		of[f.Stream] = append(of[f.Stream], f)
	}
	var lives []*life
	for _, id := range order {
		if of[id][0].Kind != "alert" {
			continue
		}
		if l := w.live(of[id]); l != nil {
			lives = append(lives, l)
		}
	}
	f := figures{Severities: map[string]snapshot.AlertSum{}, Servers: map[string]snapshot.AlertSum{}, Rules: map[string]snapshot.AlertSum{},
		Ack: map[string]string{}, Resolve: map[string]string{}, RuleNoise: map[string]string{}, ServerNoise: map[string]string{},
		Told: map[string]int{}, Acknowledged: map[string]string{}, Channels: map[string]string{}}
	labels := w.labels(of, lives)
	for _, l := range lives {
		s := snapshot.AlertSum{Start: number(l.start), Raised: number(l.raised), Resolved: number(l.resolved), End: number(l.at)}
		for _, sum := range []func(*snapshot.AlertSum){
			func(x *snapshot.AlertSum) { f.All = *x },
		} {
			total := f.All
			total.Start, total.Raised, total.Resolved, total.End = total.Start+s.Start, total.Raised+s.Raised, total.Resolved+s.Resolved, total.End+s.End
			sum(&total)
		}
		for _, into := range []struct {
			rows map[string]snapshot.AlertSum
			name string
		}{{f.Severities, l.severity}, {f.Servers, labels[l.server]}, {f.Rules, l.rule}} {
			r := into.rows[into.name]
			into.rows[into.name] = snapshot.AlertSum{Start: r.Start + s.Start, Raised: r.Raised + s.Raised, Resolved: r.Resolved + s.Resolved, End: r.End + s.End}
		}
		f.ByItself += number(l.resolved && l.self)
		f.Mutes = append(f.Mutes, l.mutes...)
		if l.ackedBy != "" {
			f.Acknowledged[l.id.String()] = l.ackedBy
		}
	}
	slices.Sort(f.Mutes)
	for from := w.window.From; from.Before(w.window.To); {
		to := time.Date(from.Year(), from.Month(), from.Day()+1, 0, 0, 0, 0, time.UTC)
		if to.After(w.window.To) {
			to = w.window.To
		}
		raised, resolved, open := 0, 0, 0
		for _, l := range lives {
			raised += number(!l.from.Before(from) && l.from.Before(to))
			resolved += number(!l.to.Before(from) && l.to.Before(to))
			open += number(l.from.Before(to) && !l.to.Before(to))
		}
		f.Days = append(f.Days, fmt.Sprint(from.Unix(), raised, resolved, open))
		from = to
	}
	for _, severity := range []string{"", "info", "warning", "critical"} {
		f.Ack[severity] = w.survival(lives, severity, func(l *life) *time.Time { return l.acked })
		f.Resolve[severity] = w.survival(lives, severity, func(l *life) *time.Time {
			if l.to.Equal(never) {
				return nil
			}
			return &l.to
		})
	}
	w.noises(lives, f, labels)
	w.deliveries(t, db, lives, &f)
	return f
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// live is an alert that belongs to the report; nil: it does not.
func (w *world) live(facts []fact) *life {
	l := &life{id: facts[0].Stream, to: never}
	var servers []string
	var muted *fact
	end := func(ended *time.Time) {
		if muted == nil || ended != nil && ended.Before(w.window.From) {
			muted = nil
			return
		}
		var until *time.Time
		if text, is := muted.body["until"].(string); is {
			at, _ := time.Parse(time.RFC3339Nano, text)
			until = &at
		}
		l.mutes = append(l.mutes, muteText(l.id, w.who(*muted), muted.Occurred, until, ended))
		muted = nil
	}
	for _, f := range facts {
		switch strings.TrimPrefix(f.Type, "alert.") {
		case "raised", "changed":
			if f.Type == "alert.raised" {
				l.rule = f.body["rule"].(map[string]any)["name"].(string)
				l.maintenance = f.body["maintenance"] != nil
			}
			l.severity, l.from, servers = f.body["severity"].(string), f.when("createdAt"), nil
			if own, is := f.body["instanceId"].(string); is {
				servers = append(servers, own)
				others, _ := f.body["otherInstanceIds"].([]any)
				for _, o := range others {
					servers = append(servers, o.(string))
				}
			}
		case "triggered_again":
			if at := f.when("startedAt"); !at.Before(w.window.From) && at.Before(w.window.To) {
				l.again++
			}
		case "acknowledged":
			l.acked, l.ackedBy = &f.Occurred, w.who(f)
		case "muted", "muted_until":
			end(&f.Occurred)
			muted = &f
		case "unmuted":
			end(&f.Occurred)
		case "resolved", "auto_resolved":
			l.to, l.self = f.when("resolvedAt"), f.Type == "alert.auto_resolved"
		}
	}
	end(nil)
	if l.to.Before(l.from) {
		l.to = l.from
	}
	in := w.whole
	for _, text := range servers {
		id := uuid.MustParse(text)
		if w.whole || slices.Contains(w.instances, id) {
			l.server, in = id, true
			break
		}
	}
	l.start = l.from.Before(w.window.From) && !l.to.Before(w.window.From)
	l.raised = !l.from.Before(w.window.From) && l.from.Before(w.window.To)
	l.resolved = !l.to.Before(w.window.From) && l.to.Before(w.window.To)
	l.at = l.from.Before(w.window.To) && !l.to.Before(w.window.To)
	if !in || !l.start && !l.raised {
		return nil
	}
	return l
}

// who is the name of an author.
func (w *world) who(f fact) string {
	switch {
	case strings.Contains(f.Metadata, people[0].String()):
		return "Ana"
	case strings.Contains(f.Metadata, people[1].String()):
		return "Ben"
	}
	return ""
}

// labels are the names of servers; servers with one name have the end of their id, too.
func (w *world) labels(of map[uuid.UUID][]fact, lives []*life) map[uuid.UUID]string {
	names, times := map[uuid.UUID]string{}, map[string]int{}
	for id, facts := range of {
		if facts[0].Kind != "instance" {
			continue
		}
		shown, name := w.whole || slices.Contains(w.instances, id), ""
		for _, f := range facts {
			if text, is := f.body["name"].(string); is {
				name = text
			}
			if f.Type == "instance.removed" && f.Recorded.Before(w.window.From) {
				shown = slices.ContainsFunc(lives, func(l *life) bool { return l.server == id })
			}
		}
		if shown {
			names[id] = name
			times[name]++
		}
	}
	for id, name := range names {
		if times[name] > 1 {
			names[id] = name + " (" + id.String()[24:] + ")"
		}
	}
	names[uuid.Nil] = "no server"
	return names
}

// survival is the product-limit estimate, by the distinct times at which it happened.
func (w *world) survival(lives []*life, severity string, what func(*life) *time.Time) string {
	type wait struct {
		after    time.Duration
		happened bool
	}
	var waits []wait
	happened, over := 0, 0
	for _, l := range lives {
		if !l.raised || severity != "" && l.severity != severity {
			continue
		}
		if at := what(l); at != nil {
			waits, happened = append(waits, wait{max(0, at.Sub(l.from)), true}), happened+1
			continue
		}
		until := l.to
		if until.Equal(never) {
			until = w.window.To
		} else {
			over++
		}
		waits = append(waits, wait{until.Sub(l.from), false})
	}
	quantile := func(share float64) alertsum.Duration {
		best, longest := time.Duration(math.MaxInt64), time.Duration(0)
		for _, at := range waits {
			longest = max(longest, at.after)
			if !at.happened || at.after >= best {
				continue
			}
			left := 1.0 // the product over all earlier times, and this one
			seen := map[time.Duration]bool{}
			for _, x := range waits {
				if !x.happened || x.after > at.after || seen[x.after] {
					continue
				}
				seen[x.after] = true
				deaths, risk := 0, 0
				for _, y := range waits {
					deaths += number(y.happened && y.after == x.after)
					risk += number(y.after >= x.after)
				}
				left *= 1 - float64(deaths)/float64(risk)
			}
			if left <= 1-share+1e-9 {
				best = at.after
			}
		}
		if best < math.MaxInt64 {
			return alertsum.Duration{Value: best}
		}
		return alertsum.Duration{Value: longest, AtLeast: len(waits) > 0}
	}
	return timesText(alertsum.Times{Happened: happened, Censored: len(waits) - happened, Over: over, Median: quantile(0.5), Ninetieth: quantile(0.9)})
}

// noises counts what rules and servers raised.
func (w *world) noises(lives []*life, f figures, labels map[uuid.UUID]string) {
	count := func(of, other func(*life) string, into map[string]string) {
		for _, l := range lives {
			name, others := of(l), map[string]bool{}
			raised, self, acked, again, unseen := 0, 0, 0, 0, 0
			for _, x := range lives {
				if of(x) != name {
					continue
				}
				again += x.again
				if !x.raised {
					continue
				}
				raised++
				others[other(x)] = true
				self += number(x.to != never && x.self)
				acked += number(x.acked != nil)
				last := x.to
				if last.Equal(never) {
					last = w.window.To
				}
				unseen += number(x.acked == nil && last.Sub(x.from) >= 15*time.Minute)
				again += number(slices.ContainsFunc(lives, func(y *life) bool {
					since := x.from.Sub(y.to)
					return y.to != never && y.rule == x.rule && y.server == x.server && !x.to.Equal(y.to) && since >= 0 && since <= time.Hour
				}))
			}
			if raised+again > 0 {
				into[name] = fmt.Sprint(raised, self, acked, again, unseen, len(others))
			}
		}
	}
	rule, server := func(l *life) string { return l.rule }, func(l *life) string { return labels[l.server] }
	count(rule, server, f.RuleNoise)
	count(server, rule, f.ServerNoise)
}

// deliveries says of each alert what the best of its deliveries came to.
func (w *world) deliveries(t *testing.T, db *sqlx.DB, lives []*life, f *figures) {
	t.Helper()
	best := []string{"sent", "waiting", "failed", "maintenance", "muted", "suppressed", "noRule"}
	channelOf := map[uuid.UUID][2]int{}
	for _, l := range lives {
		if !l.raised {
			continue
		}
		outcome := "noRule"
		if l.maintenance {
			outcome = "maintenance"
		}
		for _, s := range w.sent {
			if s.alert != l.id || !s.at.Before(w.window.To) {
				continue
			}
			is := map[string]string{"sent": "sent", "failed": "failed", "pending": "waiting"}[s.status]
			switch s.reason {
			case "muted":
				is = "muted"
			case "maintenance_window":
				is = "maintenance"
			case "no_recipients":
				is = "suppressed"
			}
			n := channelOf[s.channel]
			channelOf[s.channel] = [2]int{n[0] + number(is == "sent"), n[1] + number(is == "failed")}
			if slices.Index(best, is) < slices.Index(best, outcome) {
				outcome = is
			}
		}
		f.Told[outcome]++
		f.Alone += number(outcome == "sent")
		f.CriticalUntold += number(outcome != "sent" && l.severity == "critical")
	}
	for id, n := range channelOf {
		f.Channels[id.String()] = fmt.Sprint(n[0], n[1])
	}
}
