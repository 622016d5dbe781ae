package slasum

import (
	"time"

	"muster/internal/report/snapshot/sheet"
)

// mostBurns is how many servers the picture of page 1 has.
const mostBurns = 4

// burn is how the servers that did worst used their budgets, day by day in UTC; nil: none has a budget.
func (p printer) burn() *sheet.Burn {
	if p.doc.Window == nil {
		return nil
	}
	b := &sheet.Burn{Name: "Budget left at the end of each day", Note: "Full: the whole budget is left. Empty: it is used up, the day has not come, or the server was not there. " +
		"Hatched: left only if the server was up in the time that nobody knows about."}
	var ends []time.Time
	for at := p.doc.Window.From.UTC(); at.Before(p.records().BudgetTo); {
		b.Days = append(b.Days, at.Format(dayOf))
		at = at.Truncate(24 * time.Hour).Add(24 * time.Hour)
		ends = append(ends, at)
	}
	cut := false
	for _, l := range p.s.Lines {
		if l.Budget <= 0 || len(b.Rows) == mostBurns {
			continue
		}
		cut = cut || l.OutageN > len(l.Outages) || l.GapN > len(l.Gaps)
		row := sheet.BurnRow{Of: l.Name, Text: length(l.Left()), Tone: sheet.Plain}
		if l.Left() < 0 {
			row.Tone = sheet.Critical
		}
		for i, end := range ends {
			day := sheet.BurnDay{}
			if there := l.To.After(p.begin(i, ends)) && l.From.Before(end); there {
				down, unknown := l.until(end)
				day.Left, day.Least = l.share(l.Budget-down), l.share(l.Budget-down-unknown)
			}
			row.Days = append(row.Days, day)
		}
		b.Rows = append(b.Rows, row)
	}
	if cut {
		b.Note += " Of a server with many, the longest outages and unknown times are drawn."
	}
	if len(b.Rows) == 0 {
		return nil
	}
	return b
}

// begin is when a day begins, by the ends of all.
func (p printer) begin(day int, ends []time.Time) time.Time {
	if day == 0 {
		return p.doc.Window.From
	}
	return ends[day-1]
}

// share is a part of the budget in percent; a budget that was exceeded has nothing left.
func (l Line) share(left time.Duration) float64 {
	return max(0, 100*left.Seconds()/l.Budget.Seconds())
}

// until is how long the server was down and unknown before a time.
func (l Line) until(at time.Time) (down, unknown time.Duration) {
	before := func(from, to time.Time) time.Duration {
		if to.After(at) {
			to = at
		}
		return max(0, to.Sub(from))
	}
	for _, o := range l.Outages {
		down += before(o.From, o.To)
	}
	for _, g := range l.Gaps {
		unknown += before(g.From, g.To)
	}
	return down, unknown
}
