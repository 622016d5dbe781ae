package mail

import (
	"bytes"
	_ "embed" // the templates
	"fmt"
	"html"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	gomail "github.com/wneessen/go-mail"

	"muster/domain/printable"
)

// Notices is what a delivery tells one recipient.
type Notices struct {
	OrganizationID uuid.UUID
	DeliveryID     uuid.UUID
	MemberID       uuid.UUID

	Organization string
	Demo         bool

	Rule    string       // by which they are told
	Heading string       // all of it in a line, for the subject
	Lines   []NoticeLine // none: it is a test
	Omitted int          // how many more there are
	At      time.Time    // when they were put together
	// Leave is the link that ends these mails, of an address that is no member's; MemberID is
	// then the address's id. Empty: it goes to a member.
	Leave string
}

// NoticeLine is one event.
type NoticeLine struct {
	What  string // happened: "Raised (critical)"
	About string // what: "Lock waits above 5 sessions, pg-orders-01"
	Why   string // it happened, in sentences; empty: that is not said
	Link  string
	At    time.Time

	Facts                  []string // sentences: since when, above what, what to do
	Acknowledge, Dashboard string   // further links; empty: there is none
}

var (
	//go:embed templates/notices.html
	noticesHTML string
	//go:embed templates/notice.html
	noticeHTML string // the row of an event
	//go:embed templates/notice_link.html
	noticeLinkHTML string
	//go:embed templates/notice_fact.html
	noticeFactHTML string
	//go:embed templates/notices.txt
	noticesText string
)

// Of a subject, in characters: an inbox shows some sixty. What happened comes first, and the
// organization, which most recipients have one of, last.
const (
	maxHeading      = 90
	maxOrganization = 30
)

func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most-1])) + "…"
}

// testHeading is what a test says that it is.
const testHeading = "A test of notifications"

// NoticesID is the Message-ID of a delivery's mail to a member, without the angle brackets.
func NoticesID(delivery, member uuid.UUID) string {
	return fmt.Sprintf("%s.%s@notifications.muster.internal", delivery, member)
}

// ComposeNotices makes the mail of a delivery to one recipient. It fails with a final
// *DeliveryError where the address is none.
func (c *Composer) ComposeNotices(n Notices, to Address) (ComposedMail, error) {
	n.Organization, n.Rule, n.Heading, to.Name = printable.Clean(n.Organization), printable.Clean(n.Rule), printable.Clean(n.Heading), printable.Clean(to.Name)
	if len(n.Lines) == 0 {
		n.Heading = testHeading
	}
	subject := shortened(n.Heading, maxHeading) + " · " + shortened(n.Organization, maxOrganization)
	if n.Demo {
		subject = "[Demo] " + subject
	}
	text, page := noticesLetter(n)
	id := NoticesID(n.DeliveryID, n.MemberID)
	return c.compose(to, part{
		at: n.At, id: id, name: fmt.Sprintf("%s.%s.%s", n.OrganizationID, n.DeliveryID, n.MemberID),
		boundary: "muster-" + n.DeliveryID.String() + "-" + n.MemberID.String()[:8],
		subject:  subject, text: text, page: page,
	})
}

func noticesLetter(n Notices) (text, page string) {
	var lines, rows strings.Builder
	for _, l := range n.Lines {
		l.What, l.About, l.Why = printable.Clean(l.What), printable.Clean(l.About), printable.Clean(l.Why)
		why := l.Why
		if why != "" {
			why = "\n  " + why
		}
		fmt.Fprintf(&lines, "%s: %s%s\n  %s\n  %s\n", l.What, l.About, why, instant(l.At), l.Link)
		more := ""
		for _, fact := range l.Facts {
			fact = printable.Clean(fact)
			fmt.Fprintf(&lines, "  %s\n", fact)
			more += filled(noticeFactHTML, map[string]string{"Fact": fact})
		}
		for _, link := range []struct{ name, to string }{{"Acknowledge", l.Acknowledge}, {"Dashboard", l.Dashboard}} {
			if link.to != "" {
				fmt.Fprintf(&lines, "  %s: %s\n", link.name, link.to)
				more += filled(noticeLinkHTML, map[string]string{"Name": link.name, "Link": link.to})
			}
		}
		lines.WriteString("\n")
		row := filled(noticeHTML, map[string]string{"What": l.What, "About": l.About, "Why": l.Why, "At": instant(l.At), "Link": l.Link, "More": "\x00"})
		rows.WriteString(strings.Replace(row, "\x00", more, 1))
	}
	title, more := fmt.Sprintf("%d events", len(n.Lines)+n.Omitted), ""
	because := "of the rule “" + n.Rule + "”, which your administrators can change."
	switch {
	case len(n.Lines) == 0:
		title, because = testHeading, "an administrator tested a channel that leads to you."
		more = "This is a test. Nothing happened."
	case n.Omitted > 0:
		more = fmt.Sprintf("There are %d more.", n.Omitted)
	case len(n.Lines) == 1:
		title = printable.Clean(n.Lines[0].What)
	}
	if n.Leave != "" {
		because = "this address was confirmed for alerts of " + n.Organization + "."
	}
	values := map[string]string{
		"Title": title, "Preheader": n.Heading, "Organization": n.Organization, "More": more, "At": instant(n.At), "DeliveryID": n.DeliveryID.String(),
		"Because": "You receive this e-mail because " + because,
	}
	values["Lines"] = strings.TrimSuffix(lines.String(), "\n")
	form, leave := noticesText, ""
	if n.Leave != "" {
		form = strings.Replace(form, "${Because}", "${Because}\nStop these e-mails: ${Leave}", 1)
		leave = ` <a href="` + html.EscapeString(n.Leave) + `" style="color:inherit;">Stop these e-mails</a>.`
		values["Leave"] = n.Leave
	}
	text = os.Expand(form, func(name string) string { return values[name] })
	for strings.Contains(text, "\n\n\n") { // where there are no lines, or no more
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	row := ""
	if n.Demo {
		text, row = demoText+text, strings.TrimSpace(demoHTML)
	}
	// The rows go in last: what they show is escaped already, and may look like a name of ours.
	page = os.Expand(strings.NewReplacer("${Demo}", row, "${Rows}", "\x00", "${Because}", "${Because}\x01").Replace(framed(noticesHTML)), func(name string) string { return html.EscapeString(values[name]) })
	return text, strings.NewReplacer("\x00", rows.String(), "\x01", leave).Replace(page)
}

// filled is a template with values, which are text.
func filled(template string, values map[string]string) string {
	return os.Expand(template, func(name string) string { return html.EscapeString(values[name]) })
}

// part is what two kinds of mails differ in.
type part struct {
	at                                      time.Time // the mail's date; zero: now
	id, name, boundary, subject, text, page string
	proof                                   []byte // attached as proof.json; nil: nothing is
}

// compose puts a mail of ours together.
func (c *Composer) compose(to Address, p part) (ComposedMail, error) {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	m.FromMailAddress(c.From)
	add := func() error { return m.AddToFormat(to.Name, to.Email) }
	if to.Name == "" {
		add = func() error { return m.AddTo(to.Email) }
	}
	if err := add(); err != nil {
		return ComposedMail{}, &DeliveryError{Stage: Addressing, Text: "the recipient's address is not valid"}
	}
	m.Subject(p.subject)
	at := p.at
	if at.IsZero() {
		at = c.Now()
	}
	m.SetDateWithValue(at)
	m.SetMessageIDWithValue(p.id)
	m.SetBoundary(p.boundary)
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetGenHeader("X-Auto-Response-Suppress", "All") // Exchange looks at this one only
	m.SetBodyString(gomail.TypeTextPlain, p.text)
	m.AddAlternativeString(gomail.TypeTextHTML, p.page)
	if p.proof != nil {
		if err := attach(m, p); err != nil {
			return ComposedMail{}, err
		}
	}
	return ComposedMail{ID: p.id, Subject: p.subject, Name: p.name, msg: m}, nil
}

// proofName is the name of the attachment.
const proofName = "proof.json"

// attach adds the proof. go-mail has one boundary for all multiparts of a message, or random
// ones, and notes which it wrote last for each kind of multipart. A mail that is sent again has
// the same bytes, so attach has it write once with each of two boundaries of our own.
func attach(m *gomail.Msg, p part) error {
	err := m.AttachReader(proofName, bytes.NewReader(p.proof), gomail.WithFileContentType("application/json"))
	if err != nil {
		return fmt.Errorf("attach the proof: %w", err)
	}
	files := m.GetAttachments()
	m.SetBoundary("mixed-" + p.boundary) // neither begins with the other (RFC 2046, 5.1.2)
	if _, err := m.WriteTo(io.Discard); err != nil {
		return fmt.Errorf("attach the proof: %w", err)
	}
	m.SetAttachments(nil)
	m.SetBoundary(p.boundary)
	if _, err := m.WriteTo(io.Discard); err != nil {
		return fmt.Errorf("attach the proof: %w", err)
	}
	m.SetAttachments(files)
	m.SetBoundary("")
	return nil
}
