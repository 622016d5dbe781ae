package slasum

import (
	"fmt"
	"math"
	"strings"
	"time"

	"muster/domain/alert"
	"muster/domain/objective"
	"muster/domain/report"
	"muster/internal/engine/tuning"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/sheet"
)

const (
	minute = "2 Jan 15:04"
	dayOf  = "2 Jan"
	// mostFirst is how many servers the table of page 1 has, and mostLines every other table.
	mostFirst = 8
	mostLines = 200
	mostUsed  = 30 // outages, and times in which nobody knows, that are printed
)

// Sheet is the summary of a document.
func Sheet(doc snapshot.Document) sheet.Sheet {
	s := Summarize(doc)
	p := printer{doc: doc, s: s, names: map[[16]byte]string{}}
	if doc.ServiceRecords != nil {
		for i := range doc.ServiceRecords.Servers {
			p.names[doc.ServiceRecords.Servers[i].ID] = doc.ServiceRecords.Servers[i].Name
		}
	}
	out := sheet.Sheet{State: p.state(), Figures: p.figures(), Burn: p.burn()}
	out.Lead, out.Rest = p.lead()
	out.Sections = []sheet.Section{
		p.objectives(), p.uptime(), p.budget(), p.latency(), p.statements(), p.room(), p.repair(), p.method(),
	}
	return out
}

// printer says a summary in words.
type printer struct {
	doc   snapshot.Document
	s     Summary
	names map[[16]byte]string
}

func (p printer) records() snapshot.ServiceRecords {
	if p.doc.ServiceRecords == nil {
		return snapshot.ServiceRecords{}
	}
	return *p.doc.ServiceRecords
}

// state is that of the verdict.
func (p printer) state() string {
	a, f := p.s.Available, p.s.Fast
	switch {
	case a.Missed > 0:
		return "Critical"
	case f.Missed > 0:
		return "High"
	case len(p.s.Lines) == 0 || a.Judged()+f.Judged() == 0:
		return "Nothing"
	case a.Untold+f.Untold > 0:
		return "Unknown"
	}
	return "Clean"
}

// lead is the one sentence, and what else matters.
func (p printer) lead() (lead, rest string) {
	a, f := p.s.Available, p.s.Fast
	var more []string
	switch n := a.Judged(); {
	case len(p.s.Lines) == 0:
		return "No server was in scope in this window, so there is nothing to judge.", ""
	case n == 0 && f.Judged() == 0:
		lead = "No server had an objective at the end of this window, so none is judged."
	case n == 0:
		lead = "No server had an objective of availability. " + latencyLead(f)
	case a.Missed > 0:
		lead = fmt.Sprintf("%s of %s missed %s availability objective.", tuning.Grouped(a.Missed), tuning.Plural(n, "server", "servers"), one(a.Missed, "its", "their"))
	case a.Untold > 0:
		lead = fmt.Sprintf("No server is known to have missed its availability objective, but %s may have.", tuning.Grouped(a.Untold))
	default:
		lead = fmt.Sprintf("%s kept %s availability objective.", tuning.Plural(n, "server", "servers"), one(n, "its", "their"))
	}
	if a.Missed > 0 {
		worst := p.s.Lines[0]
		more = append(more, fmt.Sprintf("%s was down for %s. Its budget for %s is %s.", worst.Name, length(worst.Down), p.budgetOf(), length(worst.Budget)))
	}
	if a.Untold > 0 {
		more = append(more, fmt.Sprintf("For %s, the unknown time decides. Unknown time is never counted as up.", tuning.Plural(a.Untold, "server", "servers")))
	}
	if f.Missed > 0 && a.Judged() > 0 {
		more = append(more, latencyLead(f))
	}
	if p.s.Unheard > 0 {
		more = append(more, fmt.Sprintf("Nothing was ever heard of %s.", tuning.Plural(p.s.Unheard, "server", "servers")))
	}
	return lead, strings.Join(more, " ")
}

func latencyLead(f Counts) string {
	if f.Missed == 0 {
		return fmt.Sprintf("No server is known to have missed its latency objective, of %s.", tuning.Plural(f.Judged(), "server", "servers"))
	}
	return fmt.Sprintf("%s of %s with a latency objective missed it.", tuning.Grouped(f.Missed), tuning.Plural(f.Judged(), "server", "servers"))
}

// budgetOf is what a budget is of: "November", or "the window".
func (p printer) budgetOf() string {
	w, to := p.doc.Window, p.records().BudgetTo.UTC()
	if from := w.From.UTC(); from.Day() == 1 && from.AddDate(0, 1, 0).Equal(to) && from.Equal(from.Truncate(24*time.Hour)) {
		return from.Month().String()
	}
	return "the window"
}

func one(n int, single, several string) string {
	if n == 1 {
		return single
	}
	return several
}

// length is how long something took; less than zero with a minus.
func length(d time.Duration) string {
	switch {
	case d < 0:
		return "−" + length(-d)
	case d > 0 && d < time.Second:
		return "< 1 s"
	}
	return alert.Length(d)
}

// figures are the three numbers, and what does not count.
func (p printer) figures() []sheet.Figure {
	all := p.s.Up + p.s.Down + p.s.Unknown
	share := func(d time.Duration) string {
		if all == 0 {
			return "no time counts"
		}
		return percent(math.Floor(1000*float64(d)/float64(all))/10) + ", " + tuning.Plural(len(p.s.Lines), "server", "servers")
	}
	return []sheet.Figure{
		{Name: "Up", Value: length(p.s.Up), Note: share(p.s.Up), Tone: sheet.Good},
		{Name: "Down", Value: length(p.s.Down), Note: tuning.Plural(p.s.Outages, "outage", "outages"), Tone: sheet.Critical},
		{Name: "Unknown", Value: length(p.s.Unknown), Note: "never counted as up", Tone: sheet.Muted},
		{Name: "In maintenance", Value: length(p.s.Maintenance), Note: "outside the objective"},
	}
}

// percent has as many decimals as an objective may have. It never rounds to 100 or to 0.
func percent(v float64) string {
	text := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
	switch {
	case v < 100 && text == "100":
		return "> 99.999%"
	case v > 0 && text == "0":
		return "< 0.001%"
	}
	return text + "%"
}

func (l Line) available() string {
	if !l.Judged {
		return "–"
	}
	low, high := percent(l.Low), percent(l.High)
	if low == high {
		return low
	}
	return strings.TrimSuffix(low, "%") + " – " + high
}

// verdict is the cell of a verdict.
func verdict(v objective.Verdict) sheet.Cell {
	switch v {
	case objective.Missed:
		return sheet.Cell{Text: "missed", Strong: true, Tone: sheet.Critical}
	case objective.Untold:
		return sheet.Cell{Text: "cannot be told", Tone: sheet.Caution}
	case objective.Kept:
		return sheet.Cell{Text: "kept", Strong: true, Tone: sheet.Good}
	}
	return sheet.Cell{Text: "no objective", Tone: sheet.Muted}
}

func (p printer) objectives() sheet.Section {
	s := sheet.Section{ID: string(report.SectionObjectives), Title: "Objectives and windows"}
	if len(p.s.Lines) == 0 {
		s.Parts = []sheet.Part{{Words: "No server was in scope in this window."}}
		return s
	}
	t := &sheet.Table{Name: "Availability against the objective", Columns: []sheet.Column{
		{Name: "Server", Weight: 1}, {Name: "Objective", Right: true}, {Name: "Up", Right: true}, {Name: "Down", Right: true},
		{Name: "Unknown", Right: true}, {Name: "Availability", Right: true}, {Name: "Verdict"},
	}}
	for _, l := range p.s.Lines[:min(len(p.s.Lines), mostFirst)] {
		t.Rows = append(t.Rows, sheet.Row{Cells: []sheet.Cell{
			{Text: l.Name, Strong: l.Verdict == objective.Missed}, aim(l.ObjectivePercent, percent), {Text: length(l.Up)}, lost(l.Down),
			{Text: length(l.Unknown)}, {Text: l.available()}, verdict(l.Verdict),
		}})
	}
	first := sheet.Part{Title: "Availability", Table: t}
	if more := len(p.s.Lines) - len(t.Rows); more > 0 {
		first.Note = fmt.Sprintf("%s more under “Up, down, unknown”.", tuning.Plural(more, "server", "servers"))
	}
	s.Parts = []sheet.Part{first, {Words: p.changes()}, {Words: p.maintenance()}}
	return s
}

func aim(v *float64, form func(float64) string) sheet.Cell {
	if v == nil {
		return sheet.Cell{Text: "–", Tone: sheet.Muted}
	}
	return sheet.Cell{Text: form(*v)}
}

func lost(d time.Duration) sheet.Cell {
	if d > 0 {
		return sheet.Cell{Text: length(d), Strong: true, Tone: sheet.Critical}
	}
	return sheet.Cell{Text: length(d)}
}

// changes says whether objectives changed in the window.
func (p printer) changes() string {
	changed := p.records().Changed
	if len(changed) == 0 {
		return "Objectives did not change in this window."
	}
	said := "Objectives changed once in this window, on %s."
	if n := len(changed); n > 1 {
		said = fmt.Sprintf("Objectives changed %s times in this window, last on %%s.", tuning.Grouped(n))
	}
	return fmt.Sprintf(said, changed[len(changed)-1].UTC().Format(minute)) + " The objectives that held at the end of the window are judged."
}

func (p printer) maintenance() string {
	covered := 0
	for _, l := range p.s.Lines {
		if l.CoveredN > 0 {
			covered++
		}
	}
	if covered == 0 {
		return "No server was in a maintenance window."
	}
	return fmt.Sprintf("%s %s in maintenance windows, for %s together. That time is outside the objective.",
		tuning.Plural(covered, "server", "servers"), one(covered, "was", "were"), length(p.s.Maintenance))
}

func (p printer) uptime() sheet.Section {
	t := &sheet.Table{Name: "Up, down and unknown", Columns: []sheet.Column{
		{Name: "Server", Weight: 1}, {Name: "Up", Right: true}, {Name: "Down", Right: true}, {Name: "Unknown", Right: true},
		{Name: "Maintenance", Right: true}, {Name: "Availability", Right: true}, {Name: "Verdict"},
	}}
	for _, l := range p.s.Lines[:min(len(p.s.Lines), mostLines)] {
		t.Rows = append(t.Rows, sheet.Row{Cells: []sheet.Cell{
			{Text: l.Name, Note: p.presence(l)}, {Text: length(l.Up)}, lost(l.Down), {Text: length(l.Unknown)}, {Text: length(l.Maintenance)},
			{Text: l.available()}, verdict(l.Verdict),
		}})
	}
	t.Rows = append(t.Rows, sheet.Row{Total: true, Cells: []sheet.Cell{
		{Text: "All " + tuning.Plural(len(p.s.Lines), "server", "servers")}, {Text: length(p.s.Up)}, {Text: length(p.s.Down)}, {Text: length(p.s.Unknown)},
		{Text: length(p.s.Maintenance)}, {}, {},
	}})
	part := sheet.Part{Table: t, Note: "Up, down, unknown and maintenance are separate: they add up to the time in which a server was registered and switched on."}
	if more := len(p.s.Lines) + 1 - len(t.Rows); more > 0 {
		part.Note += " " + tuning.Plural(more, "further server is", "further servers are") + " in sla.csv."
	}
	return sheet.Section{ID: string(report.SectionUptime), Title: "Up, down, unknown", Parts: []sheet.Part{part}}
}

// presence says since when and until when a server was there, if that is not the whole window.
func (p printer) presence(l Line) string {
	var said []string
	if l.Joined != nil {
		said = append(said, "registered "+l.Joined.UTC().Format(dayOf))
	}
	if l.ServiceServer.Left != nil {
		said = append(said, "removed "+l.ServiceServer.Left.UTC().Format(dayOf))
	} else if l.Off > 0 {
		said = append(said, "switched off for "+length(l.Off))
	}
	if l.Judged && !l.Heard() {
		said = append(said, "never heard")
	}
	return strings.Join(said, ", ")
}

func (p printer) budget() sheet.Section {
	s := sheet.Section{ID: string(report.SectionBudget), Title: "Budget left and what used it"}
	if p.s.Available.Judged() == 0 {
		s.Parts = []sheet.Part{{Words: "No server had an objective of availability at the end of the window, so there is no budget."}}
		return s
	}
	t := &sheet.Table{Name: "Budgets", Columns: []sheet.Column{
		{Name: "Server", Weight: 1}, {Name: "Objective", Right: true}, {Name: "Budget", Right: true}, {Name: "Used", Right: true}, {Name: "Left", Right: true},
		{Name: "Unknown", Right: true},
	}}
	for _, l := range p.s.Lines {
		if l.ObjectivePercent == nil || len(t.Rows) == mostLines {
			continue
		}
		left := sheet.Cell{Text: length(l.Left())}
		if l.Left() < 0 {
			left = sheet.Cell{Text: length(l.Left()), Strong: true, Tone: sheet.Critical}
		}
		t.Rows = append(t.Rows, sheet.Row{Cells: []sheet.Cell{
			{Text: l.Name}, {Text: percent(*l.ObjectivePercent)}, {Text: length(l.Budget)}, lost(l.Down), left, {Text: length(l.Unknown)},
		}})
	}
	s.Parts = []sheet.Part{
		{Table: t, Note: "The budget is of " + p.budgetOf() + ". Unknown time is not in the budget, and not up."},
		p.outages(), p.gaps(),
	}
	return s
}

// outages are those that used most of a budget, or lasted longest.
func (p printer) outages() sheet.Part {
	part := sheet.Part{Title: "Outages"}
	t := &sheet.Table{Name: "Outages", Columns: []sheet.Column{
		{Name: "Server", Weight: 1}, {Name: "From (UTC)"}, {Name: "Lasted", Right: true}, {Name: "Alert after", Right: true}, {Name: "Acknowledged after", Right: true},
	}}
	listed := 0
	for _, l := range p.s.Lines {
		for _, o := range l.Outages {
			if listed++; len(t.Rows) == mostUsed {
				continue
			}
			lasted := sheet.Cell{Text: length(o.To.Sub(o.From)), Strong: true}
			if o.Ongoing {
				lasted.Note = "goes on"
			}
			t.Rows = append(t.Rows, sheet.Row{Cells: []sheet.Cell{
				{Text: l.Name}, {Text: o.From.UTC().Format(minute)}, lasted, after(o.From, o.SeenAt, "no alert"), after(o.From, o.TakenAt, "by nobody"),
			}})
		}
	}
	if listed == 0 {
		return sheet.Part{Title: part.Title, Words: "No outage is known in this window."}
	}
	part.Table = t
	if more := p.s.Outages - len(t.Rows); more > 0 {
		part.Note = tuning.Plural(more, "further outage", "further outages") + "."
	}
	return part
}

func after(from time.Time, at *time.Time, never string) sheet.Cell {
	if at == nil {
		return sheet.Cell{Text: never, Tone: sheet.Caution}
	}
	return sheet.Cell{Text: length(at.Sub(from))}
}

// gaps are the longest times in which nobody knows.
func (p printer) gaps() sheet.Part {
	t := &sheet.Table{Name: "Unknown", Columns: []sheet.Column{{Name: "Server", Weight: 1}, {Name: "From (UTC)"}, {Name: "To (UTC)"}, {Name: "Lasted", Right: true}}}
	all := 0
	for _, l := range p.s.Lines {
		all += l.GapN
		for _, g := range l.Gaps {
			if len(t.Rows) < mostUsed {
				t.Rows = append(t.Rows, sheet.Row{Cells: []sheet.Cell{
					{Text: l.Name}, {Text: g.From.UTC().Format(minute)}, {Text: g.To.UTC().Format(minute)}, {Text: length(g.To.Sub(g.From))},
				}})
			}
		}
	}
	if all == 0 {
		return sheet.Part{Title: "Unknown time", Words: "Every server was known to be up or down throughout.", Empty: true}
	}
	part := sheet.Part{Title: "Unknown time", Table: t}
	if more := all - len(t.Rows); more > 0 {
		part.Note = tuning.Plural(more, "further time", "further times") + "."
	}
	return part
}
