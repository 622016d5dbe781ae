package evidence

import (
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"time"

	"muster/internal/report/control"
	"muster/internal/report/pdf/typeset"
)

// The palette of the house's documents: states never speak by colour alone.
const (
	ink      typeset.Color = 0x1B2430
	muted    typeset.Color = 0x5A6675
	hairline typeset.Color = 0xD5DBE2
	wash     typeset.Color = 0xF5F7F9
	good     typeset.Color = 0x2E7D4F
	bad      typeset.Color = 0x9B1B30
	caution  typeset.Color = 0xE9CF8A
)

var (
	titleStyle  = typeset.Style{Face: typeset.Bold, Size: 21, Color: ink}
	orgStyle    = typeset.Style{Face: typeset.Regular, Size: 12, Color: muted}
	h1Style     = typeset.Style{Face: typeset.Bold, Size: 13, Color: ink}
	bodyStyle   = typeset.Style{Face: typeset.Regular, Size: 9.5, Color: ink}
	strongStyle = typeset.Style{Face: typeset.Bold, Size: 9.5, Color: ink}
	smallStyle  = typeset.Style{Face: typeset.Regular, Size: 8, Color: muted}
	cellStyle   = typeset.Style{Face: typeset.Regular, Size: 8, Color: ink}
	cellStrong  = typeset.Style{Face: typeset.Bold, Size: 8, Color: ink}
	labelStyle  = typeset.Style{Face: typeset.Bold, Size: 7.2, Color: muted}
	codeStyle   = typeset.Style{Face: typeset.Mono, Size: 7.2, Color: ink}
)

var look = typeset.Look{
	Head: labelStyle, Body: cellStyle, Note: smallStyle, HeadRule: 0x8A96A3, RowRule: hairline, Zebra: wash, Leading: 1.32, PadX: 4, PadY: 3,
}

const leading = 1.42

// sheet is a document on its way onto paper.
type sheet struct {
	*typeset.Paper
	d Document
	s Signed
}

// WritePDF prints a document, and who signed it: the same bytes for the same document.
func WritePDF(w io.Writer, d Document, s Signed, paper string) error {
	p := sheet{typeset.NewPaper(typeset.LoadFonts(), paper, typeset.Margin{Left: 54, Right: 54, Top: 60, Bottom: 60}), d, s}
	p.head()
	p.bars()
	p.backups()
	p.periods()
	p.population()
	p.exceptions()
	p.proof()
	p.footers()
	return p.Paint(w, typeset.Info{
		Title: d.Check.ID + " from " + day(d.From) + " to " + day(d.To), Author: d.Organization.Name, Subject: d.Check.Title,
		Creator: "Muster", Created: d.AsOf,
	})
}

func (p *sheet) para(style typeset.Style, text string) {
	p.Paragraph(0, leading, typeset.Span{Text: text, Style: style})
}

// section starts one; its heading does not stand alone.
func (p *sheet) section(title string, with float64) {
	p.Need(with + 40)
	p.Skip(16)
	p.Mark(title, 0)
	p.para(h1Style, title)
	p.Y += 3
}

func (p *sheet) head() {
	p.para(orgStyle, p.d.Organization.Name)
	p.Y += 2
	p.Mark(p.d.Check.ID, 0)
	p.Paragraph(0, 1.25, typeset.Span{Text: "Control " + p.d.Check.ID + " over a period", Style: titleStyle})
	p.Y += 4
	p.para(strongStyle, p.d.Check.Title)
	p.para(bodyStyle, minute(p.d.From)+" to "+minute(p.d.To)+", as it was recorded on "+minute(p.d.AsOf)+".")
	p.Y += 4
	p.para(bodyStyle, p.summary())
	if p.d.Check.ID == control.Backups {
		p.para(smallStyle, ofBackups)
		return
	}
	p.para(smallStyle, "The servers of its engine that were known and active at any time in the period, also those that were removed since. An answer holds until the next assessment, "+
		"24 hours at most; after that nobody knows, and the state is not assessed. Reported late is time of which only an assessment tells that was recorded long after it. "+
		"Altered is time about which the database does not say what the log recorded. Another period begins where the check changed. An exception counts from the record of its grant. Shares and gaps are of the time in which a server was known.")
}

// summary counts servers.
func (p *sheet) summary() string {
	var always, failed, gaps int
	longest := 0.0
	for _, item := range p.d.Items {
		fails := false
		for _, period := range item.Periods {
			fails = fails || period.State == control.Failed
		}
		if fails {
			failed++
		}
		if item.PassedShare >= 1 {
			always++
		}
		if item.LongestGapSeconds > 0 {
			gaps++
		}
		longest = max(longest, item.LongestGapSeconds)
	}
	text := fmt.Sprintf("%s: %d passed all the time, %d failed at some time, %d had a time without an answer", plural(len(p.d.Items), "server", "servers"), always, failed, gaps)
	if longest > 0 {
		text += ", the longest of " + Lasting(longest)
	}
	return text + "."
}

// Where the parts of a row of bars are, from the left edge.
const (
	barsAt   = 118.0
	barsEnd  = 104.0 // from the right edge
	shareEnd = 60.0
	rowTall  = 15.0
	barTall  = 9.0
)

// bars draws a row a server.
func (p *sheet) bars() {
	p.section("Servers over the period", 4*rowTall)
	if len(p.d.Items) == 0 {
		p.para(bodyStyle, "No server of this check's engine was active in the period.")
		return
	}
	p.legend()
	page := (*typeset.Page)(nil)
	for _, item := range p.d.Items {
		p.Need(rowTall)
		if page != p.Page() {
			p.Need(2 * rowTall)
			page = p.Page()
			p.axis()
		}
		p.bar(item)
	}
	p.Y += 4
}

func (p *sheet) legend() {
	x, page := p.Left(), p.Page()
	for _, entry := range states {
		p.segment(x, p.Y+1, 18, entry.state)
		x += 23 + page.Text(x+23, p.Y+8.5, smallStyle, typeset.Left, entry.words) + 14
	}
	p.Y += rowTall + 2
}

// axis writes the times above the bars.
func (p *sheet) axis() {
	page, from, to := p.Page(), p.Left()+barsAt, p.Left()+p.TextWidth()-barsEnd
	middle := p.d.From.Add(p.d.To.Sub(p.d.From) / 2)
	at := minute
	if p.d.To.Sub(p.d.From) > 7*24*time.Hour {
		at = day
	}
	page.Text(p.Left(), p.Y+8, labelStyle, typeset.Left, "SERVER")
	page.Text(from, p.Y+8, labelStyle, typeset.Left, at(p.d.From))
	page.Text((from+to)/2, p.Y+8, labelStyle, typeset.Center, at(middle))
	page.Text(to, p.Y+8, labelStyle, typeset.Right, at(p.d.To))
	page.Text(p.Left()+p.TextWidth()-shareEnd, p.Y+8, labelStyle, typeset.Right, "PASSED")
	page.Text(p.Left()+p.TextWidth(), p.Y+8, labelStyle, typeset.Right, "LONGEST GAP")
	p.Y += rowTall - 2
}

func (p *sheet) bar(item Item) {
	page, left, width := p.Page(), p.Left()+barsAt, p.TextWidth()-barsAt-barsEnd
	name := barsAt - 8
	if item.Removed {
		name -= 4 + page.Text(p.Left()+name, p.Y+8.5, smallStyle, typeset.Right, "removed")
	}
	page.Text(p.Left(), p.Y+8.5, cellStrong, typeset.Left, p.fit(item.Instance.Name, name))
	whole := p.d.To.Sub(p.d.From).Seconds()
	draw := func(failed bool) {
		for _, period := range item.Periods {
			if (period.State == control.Failed || period.State == control.Altered) != failed {
				continue
			}
			x := left + width*period.From.Sub(p.d.From).Seconds()/whole
			w := width * period.To.Sub(period.From).Seconds() / whole
			if failed { // as wide as a hair at least, and never out of sight
				w = max(w, 0.8)
				x = min(x, left+width-w)
			}
			p.segment(x, p.Y+1, w, period.State)
		}
	}
	draw(false)
	draw(true)
	page.Text(p.Left()+p.TextWidth()-shareEnd, p.Y+8.5, cellStyle, typeset.Right, Share(item.PassedShare))
	page.Text(p.Left()+p.TextWidth(), p.Y+8.5, cellStyle, typeset.Right, Lasting(item.LongestGapSeconds))
	p.Y += rowTall
}

// fit cuts a name that is wider than its room; the table of periods has it whole.
func (p *sheet) fit(name string, width float64) string {
	name = p.Fonts.Clean(name)
	runes := []rune(name)
	for len(runes) > 1 && p.Fonts.Width(cellStrong.Face, cellStrong.Size, name) > width {
		runes = runes[:len(runes)-1]
		name = string(runes) + "…"
	}
	return name
}

// segment draws a state: in grey print they are solid, black, barred, hatched, hatched and barred, framed.
func (p *sheet) segment(x, y, w float64, state control.State) {
	page := p.Page()
	switch state {
	case control.Passed:
		page.Fill(x, y, w, barTall, good)
	case control.Failed:
		page.Fill(x, y-1.5, w, barTall+3, bad) // taller: told apart without colour
	case control.Accepted:
		page.Fill(x, y, w, barTall, caution)
		page.Rule(x, y+barTall/2, w, 0, 1, ink)
	case control.NotAssessed:
		hatch(page, x, y, w, barTall)
	case control.ReportedLate:
		hatch(page, x, y, w, barTall)
		page.Rule(x, y+barTall/2, w, 0, 1, ink)
	case control.Altered: // framed, as tall as a failure
		page.Fill(x, y-1.5, w, barTall+3, bad)
		if w > 2 {
			page.Fill(x+1, y-0.5, w-2, barTall+1, wash)
		}
	}
}

// hatch fills a rectangle with lines, as reports draw what has no answer.
func hatch(page *typeset.Page, x, y, w, h float64) {
	const apart, line = 3.2, 0.45
	for t := -h; t < w; t += apart {
		from, to := max(0, -t), min(h, w-t)
		if to > from {
			page.Rule(x+t+from, y+h-from, to-from, from-to, line, muted)
		}
	}
	page.Rule(x, y, w, 0, line, muted)
	page.Rule(x, y+h, w, 0, line, muted)
}

// shown is the printed form of a state.
type shown struct {
	state control.State
	words string
	mark  typeset.Color
}

// states are all of them, in the order of the legend.
var states = []shown{
	{control.Passed, "passed", good},
	{control.Failed, "failed", bad},
	{control.Accepted, "accepted", caution},
	{control.NotAssessed, "not assessed", hairline},
	{control.ReportedLate, "reported late", hairline},
	{control.Altered, "altered", bad},
}

func shownAs(state control.State) shown {
	i := slices.IndexFunc(states, func(s shown) bool { return s.state == state })
	if i < 0 {
		return shown{state: state, words: string(state), mark: muted}
	}
	return states[i]
}

// periods is the table of all of them.
func (p *sheet) periods() {
	type row struct {
		item   Item
		period Period
	}
	var rows []row
	for _, item := range p.d.Items {
		for _, period := range item.Periods {
			rows = append(rows, row{item, period})
		}
	}
	if len(rows) == 0 {
		return
	}
	p.section("Periods", 60)
	p.Table(typeset.Table{
		Look: look, Rows: len(rows), Rest: "The signed JSON has all of them.",
		Columns: []typeset.Column{
			{Title: "Server", Max: 110}, {Title: "From"}, {Title: "To"}, {Title: "State"}, {Title: "Assessments", Align: typeset.Right}, {Title: "Why", Flex: 1},
		},
		Row: func(i int) []typeset.Cell {
			r := rows[i]
			state := shownAs(r.period.State)
			return []typeset.Cell{
				{Text: r.item.Instance.Name, Style: cellStrong}, {Text: minute(r.period.From)}, {Text: minute(r.period.To)},
				{Text: state.words, Mark: state.mark}, {Text: typeset.Thousands(r.period.Assessments)}, {Text: p.d.Words(r.period)},
			}
		},
	})
}

// whatHappened are the words for what became of a server.
var whatHappened = map[string]string{
	control.Joined: "joined", control.Activated: "activated", control.Deactivated: "deactivated", control.EngineChanged: "engine changed", control.Left: "left",
}

// by says who caused an event of a server's life.
func (e LifeEvent) by() string {
	switch {
	case e.Who != nil:
		return whoever(*e.Who)
	case e.By == control.ByToken:
		return "an ingest token"
	}
	return "Muster"
}

// population is when servers joined and left, and why.
func (p *sheet) population() {
	type row struct {
		item  Item
		event LifeEvent
	}
	var rows []row
	for _, item := range p.d.Items {
		for _, e := range item.Population {
			rows = append(rows, row{item, e})
		}
	}
	if len(rows) == 0 {
		return
	}
	p.section("Population", 60)
	p.Table(typeset.Table{
		Look: look, Rows: len(rows), Rest: "The signed JSON has all of them.",
		Columns: []typeset.Column{{Title: "Server", Max: 110}, {Title: "Recorded"}, {Title: "Event"}, {Title: "Engine"}, {Title: "By", Flex: 1}, {Title: "Entry of log fleet", Align: typeset.Right}},
		Row: func(i int) []typeset.Cell {
			r := rows[i]
			what := whatHappened[r.event.What]
			if r.event.What == control.Joined && r.event.Since.Before(r.event.At) {
				what += ", counted since " + day(r.event.Since)
			}
			return []typeset.Cell{
				{Text: r.item.Instance.Name, Style: cellStrong}, {Text: minute(r.event.At)}, {Text: what}, {Text: r.event.Engine}, {Text: r.event.by()}, {Text: fmt.Sprint(r.event.Event)},
			}
		},
	})
}

// exceptions is who decided what.
func (p *sheet) exceptions() {
	if len(p.d.Exceptions) == 0 {
		return
	}
	p.section("Exceptions in force in the period", 60)
	p.Table(typeset.Table{
		Look: look, Rows: len(p.d.Exceptions), Rest: "The signed JSON has all of them.",
		Columns: []typeset.Column{
			{Title: "Granted"}, {Title: "By", Max: 90}, {Title: "Asked by", Max: 90}, {Title: "Ended"}, {Title: "Entry of log organization"}, {Title: "Why", Flex: 1},
		},
		Row: func(i int) []typeset.Cell {
			x := p.d.Exceptions[i]
			ended, events := minute(x.Until)+", lapses", fmt.Sprint(x.GrantedIn)
			if x.RevokedAt != nil {
				ended = minute(*x.RevokedAt) + ", revoked by " + whoever(*x.RevokedBy)
				events += fmt.Sprint(", ", *x.RevokedIn)
			}
			return []typeset.Cell{
				{Text: minute(x.GrantedAt)}, {Text: whoever(x.GrantedBy)}, {Text: whoever(x.RequestedBy)}, {Text: ended}, {Text: events},
				{Text: x.Reason, Sub: "Exception " + x.ID.String(), SubStyle: smallStyle},
			}
		},
	})
}

// proof is what the paper rests on.
func (p *sheet) proof() {
	p.section("Sources", 150)
	if p.d.Check.ID == control.Backups {
		p.para(bodyStyle, fromBackups)
		p.sources()
		return
	}
	assessments, told := 0, 0
	for _, item := range p.d.Items {
		for _, a := range item.Assessments {
			assessments++
			if a.Event != nil {
				told++
			}
		}
	}
	p.para(bodyStyle, fmt.Sprintf("It was made from %s, %d of them with an event of their own in the log of the fleet, and from the logs as far as these heads. "+
		"The signed JSON lists each assessment with its digest; this paper is a picture of it.", plural(assessments, "assessment", "assessments"), told))
	p.sources()
}

// sources names the logs, the signature and the keys.
func (p *sheet) sources() {
	p.Y += 4
	lines := [][2]string{
		{"Heads of the logs", p.d.Witnesses[0]}, {"", p.d.Witnesses[1]}, {"Evidence, SHA-256", p.s.Digest()},
		{"Report key", p.s.KeyID}, {"Signature", base64.StdEncoding.EncodeToString(p.s.Signature)}, {"Catalogue of checks", p.d.Check.Catalogue + ", SHA-256 " + p.d.Check.SHA256},
	}
	if p.d.KeysFingerprint != "" {
		lines = append(lines, [2]string{"Keys, fingerprint", p.d.KeysFingerprint})
	}
	for _, line := range lines {
		p.Page().Text(p.Left(), p.Y+8, labelStyle, typeset.Left, line[0])
		p.Paragraph(96, 1.5, typeset.Span{Text: line[1], Style: codeStyle})
		p.Y += 2
	}
	p.Y += 4
	p.para(smallStyle, "To check the signed JSON without Muster's database: muster evidence --verify FILE --keys muster-keys.json. To hold a head against the logs: muster events verify --witness HEAD.")
}

func (p *sheet) footers() {
	pages := p.Pages()
	for i, page := range pages {
		y := p.Height - 34
		page.Rule(p.Left(), y-10, p.TextWidth(), 0, 0.4, hairline)
		page.Text(p.Left(), y, smallStyle, typeset.Left, p.d.Organization.Name+" · "+p.d.Check.ID)
		page.Text(p.Left()+p.TextWidth(), y, smallStyle, typeset.Right, fmt.Sprintf("Page %d of %d", i+1, len(pages)))
	}
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04Z") }

func day(t time.Time) string { return t.UTC().Format("2006-01-02") }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return typeset.Thousands(n) + " " + many
}
