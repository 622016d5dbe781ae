package mail

import (
	"bytes"
	"embed"
	"fmt"
	htmltemplate "html/template"
	netmail "net/mail"
	"net/url"
	"strings"
	texttemplate "text/template"
	"time"

	"github.com/google/uuid"
	gomail "github.com/wneessen/go-mail"

	"muster/domain/legible"
)

// Address is where a mail goes.
type Address struct {
	Name  string
	Email string
}

// Notice is a finished report as its mail tells of it.
type Notice struct {
	OrganizationID uuid.UUID
	ReportID       uuid.UUID
	MemberID       uuid.UUID

	Organization string
	Demo         bool
	PublicURL    string

	Kind       string // as the page calls it: "Security Report"
	ScopeLabel string
	Requester  string // name of who asked
	Requested  bool   // the recipient is who asked

	AsOf      time.Time // of the inputs
	ExpiresAt time.Time
	FileName  string
	SizeBytes int64
	Pages     int
	SHA256    string // of the PDF, hex

	Witness string // the log's head that the PDF carries, as log:position:hash
}

//go:embed templates/ready.html templates/ready.txt
var templates embed.FS

// Composer makes the mails.
type Composer struct {
	from *netmail.Address
	now  func() time.Time
	html *htmltemplate.Template
	text *texttemplate.Template
}

// NewComposer returns a composer with the given sender and clock.
func NewComposer(from *netmail.Address, now func() time.Time) (*Composer, error) {
	html, err := htmltemplate.ParseFS(templates, "templates/ready.html")
	if err != nil {
		return nil, fmt.Errorf("mail template: %w", err)
	}
	text, err := texttemplate.ParseFS(templates, "templates/ready.txt")
	if err != nil {
		return nil, fmt.Errorf("mail template: %w", err)
	}
	return &Composer{from: from, now: now, html: html, text: text}, nil
}

// letter is what the templates see.
type letter struct {
	Notice
	Link    string
	AsOf    string
	Expires string
	Size    string
	Pages   string
	Because string
}

// Compose makes the mail to one recipient. It fails with a final
// *DeliveryError where the address is none.
func (c *Composer) Compose(n Notice, to Address) (Message, error) {
	// Names come from people: a line break in one must not end a line of ours.
	n.Organization, n.ScopeLabel, n.FileName = legible.Clean(n.Organization), legible.Clean(n.ScopeLabel), legible.Clean(n.FileName)
	n.Requester, to.Name = legible.Clean(n.Requester), legible.Clean(to.Name)
	l := newLetter(n)
	var text, html bytes.Buffer
	if err := c.text.Execute(&text, l); err != nil {
		return Message{}, fmt.Errorf("compose a mail: %w", err)
	}
	if err := c.html.Execute(&html, l); err != nil {
		return Message{}, fmt.Errorf("compose a mail: %w", err)
	}
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	m.FromMailAddress(c.from)
	if err := m.AddToFormat(to.Name, to.Email); err != nil {
		return Message{}, &DeliveryError{Stage: Addressing, Text: "the recipient's address is not valid"}
	}
	subject := fmt.Sprintf("%s ready: %s", n.Kind, n.ScopeLabel)
	if n.Demo {
		subject = "[Demo] " + subject
	}
	m.Subject(subject)
	m.SetDateWithValue(c.now())
	m.SetMessageIDWithValue(MessageID(n.ReportID, n.MemberID))
	m.SetBoundary("muster-" + n.ReportID.String() + "-" + n.MemberID.String()[:8])
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetGenHeader("X-Auto-Response-Suppress", "All") // Exchange looks at this one only
	m.SetBodyString(gomail.TypeTextPlain, text.String())
	m.AddAlternativeString(gomail.TypeTextHTML, html.String())
	return Message{
		ID:   MessageID(n.ReportID, n.MemberID),
		Name: fmt.Sprintf("%s.%s.%s", n.OrganizationID, n.ReportID, n.MemberID),
		msg:  m,
	}, nil
}

func newLetter(n Notice) letter {
	l := letter{
		Notice:  n,
		Link:    Link(n.PublicURL, n.ReportID),
		AsOf:    instant(n.AsOf),
		Expires: instant(n.ExpiresAt),
		Size:    size(n.SizeBytes),
		Pages:   fmt.Sprintf("%d pages", n.Pages),
		Because: fmt.Sprintf("You receive this e-mail because %s added you as a recipient.", n.Requester),
	}
	if n.Pages == 1 {
		l.Pages = "1 page"
	}
	switch {
	case n.Requested:
		l.Because = "You receive this e-mail because you requested this report."
	case n.Requester == "":
		l.Because = "You receive this e-mail because you are a recipient of this report."
	}
	return l
}

// Link is the page that offers the report's download after signing in.
func Link(publicURL string, report uuid.UUID) string {
	q := url.Values{"reportId": {report.String()}}
	return strings.TrimRight(publicURL, "/") + "/exports?" + q.Encode()
}

func instant(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

func size(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
