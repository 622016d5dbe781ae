package day

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
)

// Page is a digest in words. The PDF, the mail and the preview print it.
type Page struct {
	Title    string    `json:"title"` // Thursday, 26 November
	When     string    `json:"when"`  // 24 hours to 07:00, Europe/Berlin
	Subject  string    `json:"subject"`
	Level    Level     `json:"level"`
	Headline string    `json:"headline"`
	Rest     string    `json:"rest"`
	First    *FirstRow `json:"first"` // nil: nothing has to be done first
	Sections []Section `json:"sections"`
}

// FirstRow is what to do first.
type FirstRow struct {
	Text     string     `json:"text"`
	Note     string     `json:"note"`
	Alert    *uuid.UUID `json:"alertId"`
	Instance *uuid.UUID `json:"instanceId"`
}

// Section is a part of a page. It is there if nothing is in it, too.
type Section struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Aside   string   `json:"aside"`
	Figures []Figure `json:"figures,omitempty"`
	Rows    []Row    `json:"rows"`
	Half    bool     `json:"half,omitempty"` // on paper, it shares its height with the next one
}

// Figure is a number of a sum.
type Figure struct {
	Value string `json:"value"`
	Label string `json:"label"`
	Note  string `json:"note"`
	Level Level  `json:"level"`
}

// Row is one fact.
type Row struct {
	Level Level  `json:"level"` // Quiet: nothing is wrong; Unknown: nobody knows; empty: neither good nor bad
	Label string `json:"label"`
	Text  string `json:"text"`
	Note  string `json:"note,omitempty"`
	Code  bool   `json:"code,omitempty"` // Text is a statement
	// Of a server: the numbers at the right end.
	Alerts string `json:"alerts,omitempty"`
	Since  string `json:"since,omitempty"`
	// Gaps are silences, as shares of the day, if the row has a bar.
	Gaps []Gap `json:"gaps,omitempty"`
	Bar  bool  `json:"bar,omitempty"`
}

// Gap is a part of a day, from 0 to 1.
type Gap struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// PageOf puts a digest into words.
func PageOf(d Digest) Page {
	p := Page{
		Title: d.Zone.In(d.day()).Format("Monday, 2 January"),
		When:  fmt.Sprintf("%s to %s, %s", span(d.To.Sub(d.From)), d.Clock(d.To), d.Zone.Name),
		Level: d.Verdict.Level, Headline: d.headline(), Rest: d.rest(), Subject: d.subject(),
		Sections: []Section{
			d.instruments(), d.trouble(), d.alerts(), d.due(), d.room(), d.statements(), d.delivered(),
		},
	}
	if f := d.Verdict.First; f != nil {
		text := f.What
		if f.Server != "" {
			text = "look at " + f.Server + ": " + text
		}
		note := f.Advice
		if note == "" && f.Alert != nil {
			note = "Open the alert, and acknowledge it so that others know."
		}
		whose := "Nobody owns the server."
		if f.Owner != "" {
			whose = "The server is owned by " + f.Owner + "."
		}
		note = strings.TrimSpace(note + " Since " + d.When(f.Since) + ". " + whose)
		p.First = &FirstRow{Text: text + ".", Note: note, Alert: f.Alert, Instance: f.Instance}
	}
	return p
}

// span is how long the day is: 23 to 25 hours where clocks change.
func span(d time.Duration) string {
	if d%time.Hour == 0 {
		return Count(int(d/time.Hour), "hour", "hours")
	}
	return Lasting(d)
}

// State is the level in the words of verdicts (domain/report).
func (l Level) State() string {
	switch l {
	case Critical, High, Medium:
		return capital(string(l))
	case Quiet:
		return report.StateClean
	case Nothing:
		return report.StateNothing
	case Unknown:
	}
	return report.StateUnknown
}

func (d Digest) headline() string {
	v := d.Verdict
	open := "no critical alert is open"
	if v.Critical > 0 {
		open = Count(v.Critical, "critical alert is open", "critical alerts are open")
	}
	switch {
	case v.Level == Nothing:
		return "There is no server to report on."
	case d.Instruments.Never == d.Servers:
		return "Nobody knows how this day was: no server was heard."
	case v.Needs > 0:
		return capital(Count(v.Needs, "server needs you", "servers need you")) + "; " + open + "."
	case v.Critical > 0:
		return capital(open) + "."
	case v.Level == High:
		return "Nothing is critical; " + Count(d.urgent(), "server has a warning", "servers have warnings") + "."
	case v.Unheard > 0:
		return "Nothing is known to be wrong, but " + Count(v.Unheard, "server was not heard all day", "servers were not heard all day") + "."
	case v.Level == Medium:
		return "Nothing needs you today; small things are open."
	}
	return "Nothing needs you today."
}

// urgent are the listed servers with a warning, and those that are not listed.
func (d Digest) urgent() int {
	n := 0
	for _, s := range d.Trouble.Listed {
		if s.Level == Critical || s.Level == High {
			n++
		}
	}
	if n == len(d.Trouble.Listed) {
		n += d.Trouble.Omitted
	}
	return n
}

// rest is what else matters, worst first.
func (d Digest) rest() string {
	if d.Servers == 0 {
		return "Servers come into this digest by the tags or the team that it is about."
	}
	var out string
	say := func(s string) {
		if s != "" {
			out += capital(s) + ". "
		}
	}
	say(list(some(d.Alerts.Raised.Total(), "alert was raised", "alerts were raised"), some(len(d.Due.Fallen), "finding fell due", "findings fell due")))
	if n := d.Verdict.Unheard; n > 0 && d.Instruments.Never < d.Servers {
		was := "were"
		if n == 1 {
			was = "was"
		}
		say(fmt.Sprintf("%d of %s %s not heard all day: whether it was quiet there is not known", n, Count(d.Servers, "server", "servers"), was))
	}
	if d.Instruments.Never == d.Servers {
		say("no agent, no exporter and not Muster itself reached one of " + Count(d.Servers, "server", "servers"))
	}
	if d.Delivery.Failed > 0 {
		say(fmt.Sprintf("%d of %s could not be delivered", d.Delivery.Failed, Count(d.Delivery.Messages, "message", "messages")))
	}
	if out == "" {
		return "All servers were heard all day, no alert was raised, and nothing fell due."
	}
	return out[:len(out)-1]
}

// subject is that of the mail.
func (d Digest) subject() string {
	if d.Servers == 0 {
		return "no servers"
	}
	need := "nothing needs you"
	if d.Verdict.Needs > 0 {
		need = Count(d.Verdict.Needs, "server needs you", "servers need you")
	} else if d.Verdict.Critical > 0 {
		need = Count(d.Verdict.Critical, "critical alert", "critical alerts")
	}
	overdue := ""
	if d.Due.Overdue > 0 {
		overdue = fmt.Sprintf("%d overdue (%s)", d.Due.Overdue, signed(d.Due.Overdue-d.Due.Before))
	}
	silent := ""
	if n := d.Verdict.Unheard; n > 0 {
		silent = fmt.Sprintf("%d silent", n)
	}
	return list(need, overdue, silent)
}

// gaps are stretches as parts of the day.
func (d Digest) gaps(all []Stretch) (gaps []Gap) {
	whole := d.To.Sub(d.From).Seconds()
	for _, s := range all {
		gaps = append(gaps, Gap{s.From.Sub(d.From).Seconds() / whole, s.To.Sub(d.From).Seconds() / whole})
	}
	return gaps
}

// stretches are times of the day in words.
func (d Digest) stretches(all []Stretch) string {
	if len(all) == 0 {
		return ""
	}
	words := d.Clock(all[0].From) + " – " + d.Clock(all[0].To)
	if len(all) > 1 {
		words += " and " + Count(len(all)-1, "more time", "more times")
	}
	return words
}

func (d Digest) instruments() Section {
	in := d.Instruments
	s := Section{ID: "instruments", Title: "Were the instruments alive?", Aside: "only what was heard counts as quiet"}
	servers := Row{Level: Quiet, Label: "Servers", Text: fmt.Sprintf("%d of %d all day", in.AllDay, d.Servers), Bar: d.Servers > 0, Gaps: d.gaps(in.Gaps)}
	for i, u := range in.Unheard {
		if i > 0 {
			servers.Note += "; "
		}
		switch {
		case len(u.Stretches) == 1 && u.Stretches[0].From.Equal(d.From) && u.Still:
			servers.Note += u.Server + " not heard at all"
		case u.Still && len(u.Stretches) == 1:
			servers.Note += u.Server + " silent since " + d.Clock(u.Stretches[0].From)
		default:
			servers.Note += u.Server + " silent " + d.stretches(u.Stretches)
		}
	}
	if len(in.Unheard) > 0 {
		servers.Level = Unknown
	}
	if in.Omitted > 0 {
		servers.Note += fmt.Sprintf("; and %d more", in.Omitted)
	}
	if d.Servers == 0 {
		servers.Level, servers.Text = Unknown, "none"
	}
	agents := Row{Level: Quiet, Label: "Agents", Text: fmt.Sprintf("%d of %d heard %s", in.Agents-in.Late, in.Agents, cmp.Or(d.asOf(), "at the end"))}
	switch {
	case in.Agents == 0:
		agents.Level, agents.Text = "", "none: Muster itself measures these servers, or feeds do"
	case in.LastAt != nil:
		agents.Level, agents.Note = Unknown, "the last word of one was "+d.When(*in.LastAt)
	}
	feed := Row{Level: Quiet, Label: "Feeds", Text: "CVEs of " + d.Date(in.Feed), Note: ages(d.To.Sub(in.Feed))}
	if d.To.Sub(in.Feed) > 30*24*time.Hour {
		feed.Level = High
	}
	if in.Senders != nil && *in.Senders > 0 {
		feed.Note = list(feed.Note, Count(*in.Senders, "sender was heard", "senders were heard"))
	}
	if d.AsOf != nil {
		feed.Note = list(feed.Note, d.asOf())
	}
	muster := Row{Level: Quiet, Label: "Muster", Text: "no gap", Bar: d.Servers > 0}
	if len(in.Nobody) > 0 {
		muster.Level, muster.Gaps = Unknown, d.gaps(in.Nobody)
		muster.Text = "heard nobody"
		muster.Note = d.stretches(in.Nobody) + ": it was away, or every server was silent"
	}
	if d.Servers == 0 {
		muster.Text = "there is no server"
	}
	s.Rows = append(s.Rows, servers, agents, feed, muster)
	return s
}

// asOf says when the digest was made; empty: at the end of its day.
func (d Digest) asOf() string {
	if d.AsOf == nil {
		return ""
	}
	return "as of " + d.Date(*d.AsOf) + ", " + d.Clock(*d.AsOf)
}

func ages(d time.Duration) string {
	if d < 0 {
		return "newer than this day"
	}
	if d < 24*time.Hour {
		return "of this day"
	}
	return Lasting(max(d, 48*time.Hour)) + " old"
}

func (d Digest) trouble() Section {
	t := d.Trouble
	s := Section{ID: "trouble", Title: "Servers by trouble"}
	with := len(t.Listed) + t.Omitted
	s.Aside = fmt.Sprintf("%d of %d", with, d.Servers)
	if t.Untroubled > 0 {
		s.Aside += fmt.Sprintf("; %d heard all day and without trouble", t.Untroubled)
	}
	if t.Unheard > 0 {
		s.Aside += fmt.Sprintf("; %d not heard all day", t.Unheard)
	}
	for _, x := range t.Listed {
		r := Row{Level: x.Level, Label: x.Server, Since: d.When(x.Since), Alerts: fmt.Sprintf("%d %s", x.Open, signed(x.Change))}
		if x.Muted > 0 {
			r.Alerts = fmt.Sprintf("%d, %d muted", x.Open, x.Muted)
		}
		for i, what := range x.What {
			if i > 0 {
				r.Text += "; "
			}
			r.Text += shorten(what, 90)
		}
		if x.More > 0 {
			r.Text += fmt.Sprintf("; %d more", x.More)
		}
		s.Rows = append(s.Rows, r)
	}
	switch {
	case t.Omitted > 0:
		s.Rows = append(s.Rows, Row{Label: fmt.Sprintf("%d more", t.Omitted), Text: Count(t.Omitted, "further server has trouble of no worse kind", "further servers have trouble of no worse kind")})
	case with == 0 && d.Servers == 0:
		s.Rows = append(s.Rows, Row{Level: Unknown, Label: "none", Text: "there is no server"})
	case with == 0 && t.Unheard > 0:
		s.Rows = append(s.Rows, Row{Level: Unknown, Label: "nothing known", Text: Count(t.Unheard, "server was not heard all day", "servers were not heard all day")})
	case with == 0:
		s.Rows = append(s.Rows, Row{Level: Quiet, Label: "nothing", Text: "every server was heard all day, and none has trouble"})
	}
	return s
}

func (d Digest) alerts() Section {
	a := d.Alerts
	s := Section{ID: "alerts", Title: "Alerts fired, and what became of them"}
	if o := a.Oldest; o != nil {
		s.Aside = "oldest open: " + Lasting(d.To.Sub(o.Created))
		if o.Muted {
			s.Aside += ", muted"
		}
	}
	raised, resolved := Level(""), Level("")
	if a.Raised.Total() > 0 {
		raised = High
	}
	if a.Resolved() > 0 {
		resolved = Quiet
	}
	s.Figures = []Figure{
		{Value: strconv.Itoa(a.Start), Label: "open at start", Note: some(a.MutedAtStart, "of them muted", "of them muted")},
		{Value: "+ " + strconv.Itoa(a.Raised.Total()), Label: "raised", Level: raised,
			Note: list(some(a.Raised.Critical, "critical", "critical"), some(a.Raised.Warning, "warning", "warnings"), some(a.Raised.Info, "info", "infos"))},
		{Value: "− " + strconv.Itoa(a.Resolved()), Label: "resolved", Level: resolved,
			Note: list(some(a.ByThemselves, "by itself", "by themselves"), some(a.ByPeople, "by people", "by people"), some(a.Lapsed, "lapsed", "lapsed"))},
		{Value: "= " + strconv.Itoa(a.End), Label: "open at end",
			Note: list(some(a.Seen, "acknowledged", "acknowledged"), some(a.Muted, "muted", "muted"), some(a.Again, "fired again", "fired again"))},
	}
	if o := a.Oldest; o != nil {
		s.Rows = append(s.Rows, Row{Label: "oldest open", Text: shorten(on(o.Title, o.Server), 100), Note: "since " + d.When(o.Created)})
	}
	return s
}

func on(thing, server string) string {
	if server == "" {
		return thing
	}
	return server + ": " + thing
}

func (d Digest) due() Section {
	u := d.Due
	s := Section{ID: "due", Title: "Due, overdue, expiring", Aside: "within 14 days", Half: true}
	overdue := Row{Label: "overdue", Level: Quiet, Text: "nothing"}
	if u.Overdue > 0 {
		overdue.Level, overdue.Text = Critical, Count(u.Overdue, "finding", "findings")+", "+change(u.Overdue, u.Before)
		if len(u.Fallen) > 0 {
			overdue.Note = "new: " + item(u.Fallen[0])
		} else if u.OldestOverdue != nil {
			overdue.Note = "since " + d.Date(u.OldestOverdue.Due) + ": " + item(*u.OldestOverdue)
		}
	}
	s.Rows = append(s.Rows, overdue)
	for _, x := range u.Coming {
		s.Rows = append(s.Rows, Row{Label: "due " + d.Date(x.Due), Text: item(x), Note: owner(x.Owner)})
	}
	if u.Omitted > 0 {
		s.Rows = append(s.Rows, Row{Label: "later", Text: Count(u.Omitted, "further finding falls due within 14 days", "further findings fall due within 14 days")})
	}
	for _, x := range u.Expiring {
		s.Rows = append(s.Rows, Row{Label: d.Date(x.At), Text: "ends: " + x.Kind + " " + shorten(on(x.What, x.About), 60)})
	}
	if n := u.Expires - len(u.Expiring); n > 0 {
		s.Rows = append(s.Rows, Row{Label: "ends", Text: fmt.Sprintf("%d more within 14 days", n)})
	}
	if len(s.Rows) == 1 {
		s.Rows = append(s.Rows, Row{Label: "14 days", Text: "nothing falls due, nothing known to Muster ends"})
	}
	return s
}

func item(x Item) string {
	text := x.Title
	if x.Object != "" && !strings.HasPrefix(text, x.Object) {
		text = x.Object + ": " + text
	}
	return shorten(on(text, x.Server), 75)
}

func (d Digest) room() Section {
	r := d.Room
	s := Section{ID: "room", Title: "Backups, jobs, days until full", Half: true}
	for _, b := range r.Late {
		s.Rows = append(s.Rows, Row{Level: High, Label: Lasting(time.Duration(b.Seconds) * time.Second),
			Text: on(LateBackup(b), b.Server), Note: "allowed: " + Objective(b.Limit)})
	}
	if n := r.LateAll - len(r.Late); n > 0 {
		s.Rows = append(s.Rows, Row{Level: High, Label: "late", Text: Count(n, "further database", "further databases")})
	}
	if r.LateAll == 0 && r.InTime > 0 {
		s.Rows = append(s.Rows, Row{Level: Quiet, Label: "in time", Text: "backups of " + Count(r.InTime, "database", "databases")})
	}
	if r.Untold > 0 {
		s.Rows = append(s.Rows, Row{Level: Unknown, Label: "not known", Text: "backups of " + Count(r.Untold, "server", "servers")})
	}
	for _, j := range r.Jobs {
		s.Rows = append(s.Rows, Row{Level: High, Label: "job failed", Text: shorten(on(j.Title, j.Server), 80), Note: d.When(j.At)})
	}
	for _, f := range r.Full {
		s.Rows = append(s.Rows, Row{Level: High, Label: Days(*f.Days), Text: "until " + shorten(on(f.Name, f.On), 60) + " is full", Note: Number(f.Percent) + "% used"})
	}
	for _, f := range r.NoDate {
		s.Rows = append(s.Rows, Row{Level: Unknown, Label: "unknown", Text: fmt.Sprintf("%s: %s%% used, %s", shorten(on(f.Name, f.On), 60), Number(f.Percent), reasons[f.Why])})
	}
	switch {
	case r.Measured == 0:
		s.Rows = append(s.Rows, Row{Level: Unknown, Label: "not known", Text: "how full anything is"})
	case r.FullAll+len(r.NoDate) == 0:
		s.Rows = append(s.Rows, Row{Level: Quiet, Label: "nothing", Text: "is full within 14 days, as far as sizes are known"})
	}
	return s
}

// reasons are why there is no forecast (package forecast).
var reasons = map[string]string{
	"notMeasured": "not measured", "noLimit": "no limit is known", "stale": "not measured any more", "tooShort": "measured too shortly for a date",
	"sawTooth": "it rises and falls: no date", "step": "it jumped: no date", "notGrowing": "it does not grow", "noise": "it varies more than it grows", "far": "full in more than two years",
}

func (d Digest) statements() Section {
	x := d.Statements
	s := Section{ID: "statements", Title: "New and slower statements", Half: true}
	for _, one := range x.Slower {
		r := Row{Level: High, Label: ratio(one), Text: "statement " + one.ID.String()[:8], Note: fmt.Sprintf("%s to %s, %s", milliseconds(one.Before), milliseconds(one.Now), one.Server)}
		if one.Text != "" {
			r.Text, r.Code = shorten(one.Text, 70), true
		}
		s.Rows = append(s.Rows, r)
	}
	if n := x.SlowAll - len(x.Slower); n > 0 {
		s.Rows = append(s.Rows, Row{Label: "slower", Text: Count(n, "further statement takes", "further statements take") + " at least twice as long"})
	}
	if x.New > 0 {
		r := Row{Label: "new", Text: Count(x.New, "statement", "statements") + " on " + list(x.NewOn...)}
		if x.Share != nil {
			r.Note = Number(*x.Share) + "% of the time of all"
		}
		s.Rows = append(s.Rows, r)
	}
	switch {
	case x.Missing:
		s.Rows = append(s.Rows, Row{Level: Unknown, Label: "unknown", Text: "some statements could not be read"})
	case x.Servers > 0 && x.SlowAll+x.New == 0:
		s.Rows = append(s.Rows, Row{Level: Quiet, Label: "nothing", Text: "no statement is new or takes twice as long"})
	}
	level := Level("")
	if x.Servers < d.Servers {
		level = Unknown
	}
	s.Rows = append(s.Rows, Row{Level: level, Label: "coverage", Text: fmt.Sprintf("statements are known on %d of %s", x.Servers, Count(d.Servers, "server", "servers"))})
	return s
}

func ratio(s Statement) string {
	if s.Before <= 0 {
		return "slower"
	}
	return fmt.Sprintf("×%.1f", s.Now/s.Before)
}

func (d Digest) delivered() Section {
	m := d.Delivery
	s := Section{ID: "delivery", Title: "What could not be delivered", Half: true}
	sent := Row{Level: Quiet, Label: "nothing", Text: "all of " + Count(m.Messages, "message", "messages") + " arrived"}
	switch {
	case m.Gone:
		s.Rows = append(s.Rows, Row{Level: Unknown, Label: "not known", Text: "messages are kept for 90 days"})
		s.Rows = append(s.Rows, d.musterRows()...)
		return s
	case m.Messages == 0:
		sent.Level, sent.Text = "", "no message was to be sent"
	case m.Failed > 0:
		sent.Level, sent.Label, sent.Text = Critical, fmt.Sprintf("%d of %d", m.Failed, m.Messages), "messages, "+change(m.Failed, m.Before)
	case m.Waiting > 0:
		sent.Level, sent.Label, sent.Text = Unknown, "waiting", fmt.Sprintf("%d of %s had not been sent at the end", m.Waiting, Count(m.Messages, "message", "messages"))
	}
	s.Rows = append(s.Rows, sent)
	for _, c := range m.Channels {
		s.Rows = append(s.Rows, Row{Label: d.Clock(c.First), Text: fmt.Sprintf("%s: %d failed", shorten(c.Channel, 40), c.Failed), Note: shorten(c.Why, 80)})
	}
	held := Row{Label: strconv.Itoa(d.Held.Muted + d.Held.Maintenance), Text: "alerts would have been sent but for a mute or maintenance"}
	if len(d.Held.Listed) > 0 {
		held.Note = shorten(d.Held.Listed[0], 80)
		if n := d.Held.Muted + d.Held.Maintenance - 1; n > 0 {
			held.Note += fmt.Sprintf(" and %d more", n)
		}
	}
	s.Rows = append(append(s.Rows, held), d.musterRows()...)
	return s
}

// musterRows say what Muster itself was unable to do.
func (d Digest) musterRows() (rows []Row) {
	w := d.Muster
	if w == nil {
		return nil
	}
	failed := Row{Label: strconv.Itoa(w.Failed), Text: fmt.Sprintf("reports failed; %d ready", w.Ready)}
	if w.Failed > 0 {
		failed.Level, failed.Note = High, shorten(list(w.FailedReports...), 90)
	}
	rows = append(rows, failed)
	missed := Row{Label: strconv.Itoa(w.Missed), Text: fmt.Sprintf("of %s missed", Count(w.Runs, "scheduled report", "scheduled reports"))}
	if w.Missed > 0 {
		missed.Level, missed.Note = High, shorten(list(w.MissedRuns...), 90)
	}
	rows = append(rows, missed)
	if w.Mails > 0 {
		rows = append(rows, Row{Level: High, Label: strconv.Itoa(w.Mails), Text: "mails about reports were refused"})
	}
	if w.Dead > 0 {
		rows = append(rows, Row{Level: High, Label: strconv.Itoa(w.Dead), Text: "jobs were given up: see System health", Note: d.asOf()})
	}
	return rows
}
