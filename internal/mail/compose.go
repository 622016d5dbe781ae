package mail

import (
	_ "embed"
	"fmt"
	"html"
	netmail "net/mail"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/printable"
	"muster/internal/text/pageaddress"
)

// Address is where a mail goes.
type Address struct {
	Name  string
	Email string
}

// ReadyNotice is a finished report as its mail tells of it.
type ReadyNotice struct {
	OrganizationID uuid.UUID
	ReportID       uuid.UUID
	MemberID       uuid.UUID

	Organization string
	Demo         bool
	PublicURL    string

	Kind       string // as the page calls it: "Security Report"
	ScopeLabel string
	Requester  string // name of who asked, for the recipient
	Requested  bool   // the recipient is who asked

	Schedule *Schedule // that asked in the requester's name; nil: they asked
	Digest   *Digest   // nil: it is another kind; else the mail says all that its page does, in the place of Brief
	Findings *Findings // nil: it has none to tell of
	Brief    *Brief    // nil: none is known

	At        time.Time // when it became ready, and the mail's date: one that is sent twice is the same, byte for byte
	AsOf      time.Time // of the inputs
	ExpiresAt time.Time
	FileName  string
	SizeBytes int64
	Pages     int
	SHA256    string // of the PDF, hex

	Witness   string // the log's head with Ready as its last event, as log:position:hash
	KeyID     string // of the key that signed
	Signature string // of the report, its digests and that head, base64
	Statement string // the text that the signature is over

	KeysFingerprint string // of the installation's document of keys, as reports print it
	Proof           []byte // proof.json; nil: there is none yet
}

// Schedule is the one that a report comes from.
type Schedule struct {
	ID   uuid.UUID
	Name string
}

// Findings are what a report finds, beside the one before.
type Findings struct {
	Open  int
	Since *time.Time // as of the report before; nil: there is none
	// New and Closed are beside that one. Accepted were open in it, and an exception covers
	// them now; Unknown were open in it, and could not be looked at again.
	New, Closed, Accepted, Unknown int
	Looked                         *Looked // nil: not known, as of reports from before it was recorded
}

// Looked is on how much a report stands, and what is urgent in it.
type Looked struct {
	Instances, Assessed     int
	Critical, High, Overdue int // open findings; Overdue of the two
	OpenCVEs                int
	WorstCVSS               float64
}

// counts is what changed, in as few words as there are. Of servers that nobody looked at it counts nothing as open.
func (f *Findings) counts() string {
	said := fmt.Sprintf("%d open", f.Open)
	if f.Since != nil {
		said = fmt.Sprintf("%d new, %d closed, %d open", f.New, f.Closed, f.Open)
	}
	l := f.Looked
	if l == nil {
		return said
	}
	if l.Assessed == 0 {
		said = "nothing assessed"
	}
	if l.Critical+l.High > 0 {
		said += fmt.Sprintf(" (%d critical, %d high)", l.Critical, l.High)
	}
	if l.Overdue > 0 {
		said += fmt.Sprintf(", %d overdue", l.Overdue)
	}
	if l.OpenCVEs > 0 {
		said += ", " + cves(l.OpenCVEs, l.WorstCVSS)
	}
	if missing := l.Instances - l.Assessed; missing > 0 && l.Assessed > 0 {
		said += fmt.Sprintf(", %d of %d servers not assessed", missing, l.Instances)
	}
	return said
}

func cves(open int, worst float64) string {
	if open == 1 {
		return fmt.Sprintf("1 open CVE, CVSS %.1f", worst)
	}
	return fmt.Sprintf("%d open CVEs, CVSS up to %.1f", open, worst)
}

// brief is counts for a subject: whoever reads no more is not to take findings that were
// accepted, or could not be looked at, for ones where nothing happened.
func (f *Findings) brief() string {
	said := f.counts()
	if f.Accepted > 0 {
		said += fmt.Sprintf(", %d accepted since", f.Accepted)
	}
	if f.Unknown > 0 {
		said += fmt.Sprintf(", %d not checked", f.Unknown)
	}
	return said
}

// sentence is what changed, and since when.
func (f *Findings) sentence() string {
	if f.Since == nil {
		return fmt.Sprintf("Findings: %s. There is no earlier report of this kind and scope to compare with.", f.counts())
	}
	said := fmt.Sprintf("Findings: %s. Compared with the report as of %s.", f.counts(), instant(*f.Since))
	if f.Accepted > 0 {
		said += fmt.Sprintf(" %d of its findings were accepted since then and no longer count as open.", f.Accepted)
	}
	if f.Unknown > 0 {
		said += fmt.Sprintf(" %d of its findings could not be checked this time.", f.Unknown)
	}
	return said
}

// The templates hold ${names}, which letter fills. Package text/template would do it,
// too; but it may call any method of any type, and so the linker would keep them all:
// 15 MB of the program.
var (
	//go:embed templates/frame.html
	frameHTML string // around the ${Letter} of each mail
	//go:embed templates/ready.html
	readyHTML string
	//go:embed templates/demo.html
	demoHTML string // the row of ${Demo}
	//go:embed templates/ready.txt
	readyText string
	//go:embed templates/demo.txt
	demoText string // what comes first
	//go:embed templates/schedule.html
	scheduleHTML string // the paragraph of ${Schedule}
	//go:embed templates/schedule.txt
	scheduleText string // its lines
	//go:embed templates/findings.html
	findingsHTML string // the paragraph of ${Findings}
)

// Composer makes the mails.
type Composer struct {
	From *netmail.Address
	Now  func() time.Time
}

// Compose makes the mail to one recipient. It fails with a final
// *DeliveryError where the address is none.
func (c *Composer) Compose(n ReadyNotice, to Address) (ComposedMail, error) {
	// Names come from people: a line break in one must not end a line of ours.
	n.Organization, n.ScopeLabel, n.FileName = printable.Clean(n.Organization), printable.Clean(n.ScopeLabel), printable.Clean(n.FileName)
	n.Requester, to.Name = printable.Clean(n.Requester), printable.Clean(to.Name)
	if n.Schedule != nil {
		n.Schedule = &Schedule{ID: n.Schedule.ID, Name: printable.Clean(n.Schedule.Name)}
	}
	n.Brief = n.Brief.clean()
	n.Digest = n.Digest.clean()
	text, page := letter(n)
	subject := fmt.Sprintf("%s ready: %s", n.Kind, n.ScopeLabel)
	if said := n.brief(); said != "" {
		subject += " (" + said + ")"
	}
	if n.Digest != nil { // an inbox shows some sixty characters
		subject = "Daily digest: " + n.Digest.Subject
	}
	if n.Schedule != nil {
		subject += " · " + n.Schedule.Name
	}
	if n.Demo {
		subject = "[Demo] " + subject
	}
	return c.compose(to, part{
		at: n.At,
		id: MessageID(n.ReportID, n.MemberID), name: fmt.Sprintf("%s.%s.%s", n.OrganizationID, n.ReportID, n.MemberID),
		boundary: "muster-" + n.ReportID.String() + "-" + n.MemberID.String()[:8], subject: subject, text: text, page: page, proof: n.Proof,
	})
}

// brief is what a subject says of the report: the state of its verdict and what changed.
func (n ReadyNotice) brief() string {
	switch {
	case n.Brief == nil && n.Findings == nil:
		return ""
	case n.Brief == nil:
		return n.Findings.brief()
	case n.Findings == nil:
		return n.Brief.State
	}
	return n.Brief.State + ": " + n.Findings.brief()
}

// letter says it as text and as a page, in which every value is escaped.
func letter(n ReadyNotice) (text, page string) {
	pages := fmt.Sprintf("%d pages", n.Pages)
	if n.Pages == 1 {
		pages = "1 page"
	}
	values := map[string]string{
		"Title": n.Kind + " ready", "Preheader": fmt.Sprintf("%s, as of %s. Available until %s.", pages, instant(n.AsOf), instant(n.ExpiresAt)),
		"Kind": n.Kind, "ScopeLabel": n.ScopeLabel, "Organization": n.Organization,
		"Pages": pages, "Size": size(n.SizeBytes), "AsOf": instant(n.AsOf), "Expires": instant(n.ExpiresAt),
		"Link": Link(n.PublicURL, n.ReportID), "ReportID": n.ReportID.String(), "FileName": n.FileName,
		"SHA256": n.SHA256, "Witness": n.Witness, "KeyID": n.KeyID, "Signature": n.Signature, "Statement": strings.TrimSpace(n.Statement),
		"Fingerprint": n.KeysFingerprint, "ProofIs": n.proofIs(),
		"Because": "You receive this e-mail because " + n.because(),
	}
	text, page = readyText, framed(readyHTML)
	demo, findings, schedule := "", "", ""
	if n.Demo {
		text, demo = demoText+text, strings.TrimSpace(demoHTML)
	}
	if n.Findings != nil {
		values["Findings"], findings = n.Findings.sentence(), strings.TrimSpace(findingsHTML)
		values["Preheader"] = n.Findings.sentence()
		text = strings.Replace(text, "${FindingsLine}", "${Findings}\n", 1)
	}
	row := ""
	if n.Brief != nil {
		values["Brief"], row = n.Brief.text(), n.Brief.page()
		values["Preheader"] = strings.TrimSpace(n.Brief.Verdict + " " + values["Findings"])
		text = strings.Replace(text, "${BriefLine}", "${Brief}\n", 1)
	}
	if n.Digest != nil {
		values["Brief"], row = n.Digest.text(), n.Digest.page()
		values["Title"], values["Preheader"] = "Daily digest", n.Digest.Headline+" "+n.Digest.Rest
		text = strings.Replace(text, "${BriefLine}", "${Brief}\n", 1)
	}
	if n.Schedule != nil {
		values["Schedule"] = n.Schedule.Name
		values["ScheduleLink"] = pageaddress.Link(n.PublicURL, pageaddress.Schedule, n.Schedule.ID.String())
		text, schedule = strings.Replace(text, "${ScheduleLine}\n", scheduleText+"\n", 1), strings.TrimSpace(scheduleHTML)
	}
	text = os.Expand(text, func(name string) string { return values[name] })
	// The brief goes in last: what it shows is escaped already, and may look like a name of ours.
	page = strings.NewReplacer("${Demo}", demo, "${FindingsLine}", findings, "${ScheduleLine}", schedule, "${BriefLine}", "\x00").Replace(page)
	page = os.Expand(page, func(name string) string { return html.EscapeString(values[name]) })
	return text, strings.Replace(page, "\x00", row, 1)
}

// proofIs says where the proof is.
func (n ReadyNotice) proofIs() string {
	if n.Proof == nil {
		return "The report had no proof yet when this e-mail was sent. The file that you download will contain it; proof.json has it, too."
	}
	return "The attachment proof.json is the report's proof. It says the same as the signature, and shows that the log contains the report."
}

// because says why the recipient is one.
func (n ReadyNotice) because() string {
	switch by := n.Schedule; {
	case by != nil && n.Requested:
		return fmt.Sprintf("your schedule “%s” requested this report.", by.Name)
	case by != nil && n.Requester == "":
		return fmt.Sprintf("you are a recipient of the schedule “%s”.", by.Name)
	case by != nil:
		return fmt.Sprintf("you are a recipient of %s's schedule “%s”.", n.Requester, by.Name)
	case n.Requested:
		return "you requested this report."
	case n.Requester == "":
		return "you are a recipient of this report."
	}
	return fmt.Sprintf("%s added you as a recipient.", n.Requester)
}

// framed is the template of a page around a letter.
func framed(letter string) string { return strings.Replace(frameHTML, "${Letter}", letter, 1) }

// Link is the page that offers the report's download after signing in.
func Link(publicURL string, report uuid.UUID) string {
	q := url.Values{"reportId": {report.String()}}
	return pageaddress.Link(publicURL, pageaddress.Exports) + "?" + q.Encode()
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
