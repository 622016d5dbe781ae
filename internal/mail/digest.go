package mail

import (
	_ "embed" // the templates
	"strings"

	"muster/domain/printable"
)

// Digest is the page of a daily digest, which its mail repeats.
type Digest struct {
	Title, When    string
	Subject        string
	Headline, Rest string
	Color          string // of the verdict: #rrggbb
	First          *DigestFirst
	Sections       []DigestSection
}

// DigestFirst is what to do first.
type DigestFirst struct {
	Words, Note string
	Link, Opens string // where it is shown, and what that is; empty: nowhere
}

// DigestSection is a part of the page.
type DigestSection struct {
	Title, Aside string
	Figures      []DigestFigure
	Rows         []DigestRow
}

// DigestFigure is a number of a sum.
type DigestFigure struct{ Value, Label, Note string }

// DigestRow is a fact.
type DigestRow struct {
	Label, Words, Note string
	Color              string // of the bar before it; empty: it has none
	Unknown            bool   // nobody looked: its label stands in a frame of dashes
}

var (
	//go:embed templates/digest.html
	digestHTML string // the row of ${Brief}
	//go:embed templates/digest_first.html
	digestFirstHTML string
	//go:embed templates/digest_open.html
	digestOpenHTML string // its button
	//go:embed templates/digest_section.html
	digestSectionHTML string
	//go:embed templates/digest_row.html
	digestRowHTML string
	//go:embed templates/digest_figure.html
	digestFigureHTML string
)

// clean is the digest with every text as it may be printed.
func (d *Digest) clean() *Digest {
	if d == nil {
		return nil
	}
	c := *d
	for _, text := range []*string{&c.Title, &c.When, &c.Subject, &c.Headline, &c.Rest} {
		*text = printable.Clean(*text)
	}
	if d.First != nil {
		c.First = &DigestFirst{Words: printable.Clean(d.First.Words), Note: printable.Clean(d.First.Note), Link: d.First.Link, Opens: d.First.Opens}
	}
	c.Sections = nil
	for _, s := range d.Sections {
		rows := make([]DigestRow, len(s.Rows))
		for i, r := range s.Rows {
			r.Label, r.Words, r.Note = printable.Clean(r.Label), printable.Clean(r.Words), printable.Clean(r.Note)
			rows[i] = r
		}
		s.Rows = rows
		c.Sections = append(c.Sections, s)
	}
	return &c
}

// text is the digest in lines.
func (d *Digest) text() string {
	var b strings.Builder
	line := func(parts ...string) {
		for _, p := range parts {
			b.WriteString(p)
		}
		b.WriteByte('\n')
	}
	line(d.Title)
	line(d.When)
	line()
	line(wrapped(d.Headline + " " + d.Rest))
	if f := d.First; f != nil {
		line()
		line(wrapped("First: " + f.Words + " " + f.Note))
		if f.Link != "" {
			line(f.Link)
		}
	}
	for _, s := range d.Sections {
		line()
		line(strings.ToUpper(s.Title))
		if s.Aside != "" {
			line(wrapped("(" + s.Aside + ")"))
		}
		for _, f := range s.Figures {
			line("  ", noted(f.Value+" "+f.Label, f.Note))
		}
		for _, r := range s.Rows {
			label := r.Label
			if r.Unknown {
				label = "? " + label
			}
			line("  ", label, ": ", noted(r.Words, r.Note))
		}
	}
	line()
	return b.String()
}

func noted(words, note string) string {
	if words == "" || note == "" {
		return words + note
	}
	return words + " (" + note + ")"
}

// page is the row of the digest, in which every value is escaped.
func (d *Digest) page() string {
	first := ""
	if f := d.First; f != nil {
		button := ""
		if f.Link != "" {
			button = filled(digestOpenHTML, map[string]string{"Link": f.Link, "Opens": f.Opens})
		}
		first = strings.Replace(filled(digestFirstHTML, map[string]string{"Words": f.Words, "Note": f.Note, "Open": "\x00"}), "\x00", button, 1)
	}
	var sections strings.Builder
	for _, s := range d.Sections {
		sections.WriteString(s.page())
	}
	page := filled(digestHTML, map[string]string{
		"Title": d.Title, "When": d.When, "Headline": d.Headline, "Rest": d.Rest, "Color": d.Color, "First": "\x00", "Sections": "\x01",
	})
	return strings.Replace(strings.Replace(page, "\x00", first, 1), "\x01", sections.String(), 1)
}

func (s DigestSection) page() string {
	var figures, rows strings.Builder
	for _, f := range s.Figures {
		figures.WriteString(filled(digestFigureHTML, map[string]string{"Value": f.Value, "Label": f.Label, "Note": f.Note}))
	}
	for _, r := range s.Rows {
		bar, frame := "transparent", "1px solid transparent"
		if r.Color != "" {
			bar = r.Color
		}
		if r.Unknown {
			frame = "1px dashed #8a96a3"
		}
		note := ""
		if r.Note != "" && r.Words != "" {
			note = " · "
		}
		rows.WriteString(filled(digestRowHTML, map[string]string{"Label": r.Label, "Words": r.Words, "Note": note + r.Note, "Bar": bar, "Frame": frame}))
	}
	page := filled(digestSectionHTML, map[string]string{"Title": s.Title, "Aside": s.Aside, "Figures": "\x00", "Rows": "\x01"})
	if figures.Len() > 0 {
		page = strings.Replace(page, "\x00", `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>`+figures.String()+`</tr></table>`, 1)
	}
	return strings.Replace(strings.Replace(page, "\x00", "", 1), "\x01", rows.String(), 1)
}
