package letter

import (
	"github.com/google/uuid"

	"muster/internal/mail"
	"muster/internal/report/snapshot/day"
	"muster/internal/text/pageaddress"
)

// Read is the mail of a file digest.json.
func Read(text []byte, publicURL string) (*mail.Digest, error) {
	file, err := day.ReadFile(text)
	if err != nil {
		return nil, err
	}
	return Of(file.Page, publicURL), nil
}

// Of is a page in the words of mails.
func Of(p day.Page, publicURL string) *mail.Digest {
	d := &mail.Digest{
		Title: p.Title, When: p.When, Subject: p.Subject, Headline: p.Headline, Rest: p.Rest,
		Color: mail.StateColor(p.Level.State(), p.Level == day.Quiet),
	}
	if f := p.First; f != nil {
		d.First = &mail.DigestFirst{Words: f.Text, Note: f.Note}
		d.First.Link, d.First.Opens = opens(publicURL, f.Alert, f.Instance)
	}
	for _, s := range p.Sections {
		d.Sections = append(d.Sections, sectionOf(s))
	}
	return d
}

// opens is where an alert is shown, or a server.
func opens(publicURL string, alert, instance *uuid.UUID) (link, words string) {
	switch {
	case alert != nil:
		return pageaddress.Link(publicURL, pageaddress.Alert, alert.String()), "Open the alert"
	case instance != nil:
		return pageaddress.Link(publicURL, pageaddress.Instance, instance.String()), "Open the server"
	}
	return "", ""
}

func sectionOf(s day.Section) mail.DigestSection {
	out := mail.DigestSection{Title: s.Title, Aside: s.Aside}
	for _, f := range s.Figures {
		out.Figures = append(out.Figures, mail.DigestFigure{Value: f.Value, Label: f.Label, Note: f.Note})
	}
	for _, r := range s.Rows {
		row := mail.DigestRow{Label: r.Label, Words: r.Text, Note: r.Note, Unknown: r.Level == day.Unknown}
		if r.Since != "" { // a server
			row.Note = string(r.Level) + ", since " + r.Since
		}
		switch r.Level {
		case day.Critical, day.High, day.Medium:
			row.Color = mail.StateColor(r.Level.State(), false)
		case day.Unknown, day.Quiet, day.Nothing:
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
