package mail_test

import (
	"encoding/base64"
	"errors"
	"html"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/mail"
	"muster/internal/mail/mailtest"
	"muster/internal/testing/porttest"
)

var (
	organizationID = uuid.MustParse("0199f0d2-0000-7000-8000-000000000001")
	reportID       = uuid.MustParse("0199f0d2-0000-7000-8000-000000000002")
	memberID       = uuid.MustParse("0199f0d2-0000-7000-8000-000000000003")
	ana            = mail.Address{Name: "Ana Ruiz", Email: "ana@example.org"}
)

func notice() mail.ReadyNotice {
	return mail.ReadyNotice{
		OrganizationID: organizationID, ReportID: reportID, MemberID: memberID,
		Organization: "Acme & Söhne", PublicURL: "https://muster.example.org/",
		Kind: "Security Report", ScopeLabel: "3 instances: billing, crm, orders <b>", Requester: "Bob", Requested: false,
		AsOf:      time.Date(2026, 11, 20, 11, 38, 0, 0, time.UTC),
		ExpiresAt: time.Date(2026, 12, 20, 11, 38, 0, 0, time.UTC),
		FileName:  "security-2026-11-20.pdf", SizeBytes: 412331, Pages: 14,
		SHA256:  strings.Repeat("9f", 32),
		Witness: "reports:1204:" + strings.Repeat("ab", 32),
	}
}

func compose(t *testing.T, n mail.ReadyNotice, to mail.Address) mail.ComposedMail {
	t.Helper()
	from, err := mail.ParseFrom("Muster <muster@localhost>")
	if err != nil {
		t.Fatal(err)
	}
	c := &mail.Composer{From: from, Now: func() time.Time { return time.Date(2026, 11, 20, 11, 39, 0, 0, time.UTC) }}
	m, err := c.Compose(n, to)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// parts returns the decoded parts of a mail by content type.
func parts(t *testing.T, raw io.Reader) (netmail.Header, map[string]string) {
	t.Helper()
	m, err := netmail.ReadMessage(raw)
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("content type %q %v", kind, err)
	}
	found := map[string]string{}
	reader := multipart.NewReader(m.Body, params["boundary"])
	for {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return m.Header, found
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		found[kind] = string(body)
	}
}

// TestAMailCarriesTheProof beside text and HTML, byte for byte, and the same each time the mail
// is made. Both say whether the proof is there, and print the fingerprint of the keys.
func TestAMailCarriesTheProof(t *testing.T) {
	t.Parallel()
	n := notice()
	n.KeysFingerprint, n.Proof = strings.Repeat("5b", 32), []byte(`{"format":"muster-proof-1","long":"`+strings.Repeat("é", 3000)+"\"}\n")
	whole := func() string {
		m := compose(t, n, ana)
		first, err := m.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := m.Bytes(); err != nil || string(again) != string(first) {
			t.Errorf("written twice, the mail is not the same: %v", err)
		}
		return string(first)
	}
	raw := whole()
	if again := whole(); again != raw {
		t.Errorf("made twice, the mail is\n%s\nand then\n%s", raw, again)
	}
	m, err := netmail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/mixed" {
		t.Fatalf("content type %q %v", kind, err)
	}
	mixed := multipart.NewReader(m.Body, params["boundary"])
	letter, err := mixed.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	_, bodies := parts(t, io.MultiReader(strings.NewReader("Content-Type: "+letter.Header.Get("Content-Type")+"\r\n\r\n"), letter))
	if len(bodies) != 2 {
		t.Errorf("parts %v, want text and HTML", bodies)
	}
	for kind, body := range bodies {
		for _, want := range []string{n.KeysFingerprint, "The attachment proof.json is the report's proof."} {
			if !strings.Contains(html.UnescapeString(body), want) {
				t.Errorf("%s part lacks %q:\n%s", kind, want, body)
			}
		}
	}
	attached, err := mixed.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, attached))
	kind, _, _ = mime.ParseMediaType(attached.Header.Get("Content-Type"))
	if err != nil || attached.FileName() != "proof.json" || kind != "application/json" || string(got) != string(n.Proof) {
		t.Errorf("attached is %s of type %s: %q, %v", attached.FileName(), kind, got, err)
	}
	if _, err := mixed.NextPart(); !errors.Is(err, io.EOF) {
		t.Errorf("a third part, %v", err)
	}
	n.Proof = nil
	_, bodies = parts(t, strings.NewReader(whole()))
	for kind, body := range bodies {
		if !strings.Contains(html.UnescapeString(body), "The report had no proof yet when this e-mail was sent.") || strings.Contains(body, "attachment") {
			t.Errorf("%s part does not say that there is no proof:\n%s", kind, body)
		}
	}
}

func outbox(t *testing.T) (*mail.Outbox, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "outbox")
	o, err := mail.NewOutbox(dir)
	if err != nil {
		t.Fatal(err)
	}
	return o, dir
}

func TestTheMailDescribesTheReportAndItsProof(t *testing.T) {
	t.Parallel()
	o, dir := outbox(t)
	m := compose(t, notice(), ana)
	if _, err := o.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, m.Name+".eml"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	header, bodies := parts(t, f)

	for name, want := range map[string]string{
		"Message-Id":     "<" + reportID.String() + "." + memberID.String() + "@reports.muster.internal>",
		"Auto-Submitted": "auto-generated",
		"To":             `"Ana Ruiz" <ana@example.org>`,
		"Date":           "Fri, 20 Nov 2026 11:39:00 +0000",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	link := "https://muster.example.org/exports?reportId=" + reportID.String()
	for kind, body := range bodies {
		for _, want := range []string{
			link, "Security Report", "Beta", "14 pages", "402 KiB", "20 December 2026, 11:38 UTC",
			strings.Repeat("9f", 32), "reports:1204:" + strings.Repeat("ab", 32), "Bob added you as a recipient",
		} {
			if !strings.Contains(body, want) {
				t.Errorf("%s part lacks %q", kind, want)
			}
		}
		if strings.Contains(strings.ToLower(body), "token") {
			t.Errorf("%s part speaks of a token", kind)
		}
	}
	if len(bodies) != 2 {
		t.Errorf("parts %v, want text and HTML", bodies)
	}
	if strings.Contains(bodies["text/html"], "orders <b>") {
		t.Error("a scope label reached the HTML unescaped")
	}
}

func TestTheMailDependsOnItsRecipient(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change  func(*mail.ReadyNotice)
		subject string
		body    string
	}{
		"who asked":    {func(n *mail.ReadyNotice) { n.Requested = true }, "Security Report ready: 3 instances: billing, crm, orders <b>", "because you requested this report"},
		"unknown name": {func(n *mail.ReadyNotice) { n.Requester = "" }, "Security Report ready: 3 instances: billing, crm, orders <b>", "because you are a recipient of this report"},
		"demo":         {func(n *mail.ReadyNotice) { n.Demo = true }, "[Demo] Security Report ready: 3 instances: billing, crm, orders <b>", "data of this organization is made up"},
		"its own schedule": {func(n *mail.ReadyNotice) {
			n.Requested, n.Schedule = true, &mail.Schedule{ID: reportID, Name: "On Mondays"}
		},
			"Security Report ready: 3 instances: billing, crm, orders <b> · On Mondays", "because your schedule “On Mondays” requested this report."},
		"somebody's schedule": {func(n *mail.ReadyNotice) { n.Schedule = &mail.Schedule{ID: reportID, Name: "On Mondays"} },
			"Security Report ready: 3 instances: billing, crm, orders <b> · On Mondays", "because you are a recipient of Bob's schedule “On Mondays”."},
		"an erased owner's": {func(n *mail.ReadyNotice) { n.Requester, n.Schedule = "", &mail.Schedule{ID: reportID, Name: "a\nb"} },
			"Security Report ready: 3 instances: billing, crm, orders <b> · a\ufffdb", "because you are a recipient of the schedule “a\ufffdb”."},
		"with findings": {func(n *mail.ReadyNotice) { n.Findings = &mail.Findings{Open: 3, Since: &n.AsOf, New: 2, Closed: 1} },
			"Security Report ready: 3 instances: billing, crm, orders <b> (2 new, 1 closed, 3 open)", "Findings: 2 new, 1 closed, 3 open. Compared with the report as of 20 November 2026, 11:38 UTC."},
		"with servers that were not there": {func(n *mail.ReadyNotice) { n.Findings = &mail.Findings{Open: 3, Since: &n.AsOf, Unknown: 5} },
			"Security Report ready: 3 instances: billing, crm, orders <b> (0 new, 0 closed, 3 open, 5 not checked)", "5 of its findings could not be checked this time."},
		"with some that were accepted": {func(n *mail.ReadyNotice) { n.Findings = &mail.Findings{Open: 3, Since: &n.AsOf, Accepted: 2} },
			"Security Report ready: 3 instances: billing, crm, orders <b> (0 new, 0 closed, 3 open, 2 accepted since)", "2 of its findings were accepted since then and no longer count as open."},
		"the first": {func(n *mail.ReadyNotice) { n.Findings = &mail.Findings{Open: 3} },
			"Security Report ready: 3 instances: billing, crm, orders <b> (3 open)", "Findings: 3 open. There is no earlier report of this kind and scope to compare with."},
		"line breaks": {func(n *mail.ReadyNotice) { n.ScopeLabel = "a\r\nBcc: eve@example.org" }, "Security Report ready: a\ufffd\ufffdBcc: eve@example.org", "a\ufffd\ufffdBcc: eve@example.org"},
		"turned":      {func(n *mail.ReadyNotice) { n.ScopeLabel = "\x1b[2Jgnp\u202e" }, "Security Report ready: \ufffd[2Jgnp\ufffd", "\ufffd[2Jgnp\ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := notice()
			tc.change(&n)
			o, _ := outbox(t)
			m := compose(t, n, ana)
			if _, err := o.Send(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			f, ok, err := o.Open(organizationID, m.Name)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			defer func() { _ = f.Close() }()
			header, bodies := parts(t, f)
			subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
			if err != nil || subject != tc.subject {
				t.Errorf("subject %q, want %q", subject, tc.subject)
			}
			if header.Get("Bcc") != "" {
				t.Error("a line break in a name made a header")
			}
			if !strings.Contains(bodies["text/plain"], tc.body) {
				t.Errorf("text lacks %q:\n%s", tc.body, bodies["text/plain"])
			}
		})
	}
}

func TestTheOutboxShowsEachOrganizationItsOwn(t *testing.T) {
	t.Parallel()
	o, dir := outbox(t)
	m := compose(t, notice(), ana)
	for range 2 { // the same mail again replaces the first
		if receipt, err := o.Send(t.Context(), m); err != nil || receipt.Code != 0 {
			t.Fatal(receipt, err)
		}
	}
	entries, err := o.List(organizationID, 10)
	if err != nil || len(entries) != 1 {
		t.Fatalf("entries %v %v, want one", entries, err)
	}
	if e := entries[0]; e.ID != m.Name || e.To != `"Ana Ruiz" <ana@example.org>` || !strings.HasPrefix(e.Subject, "Security Report ready") {
		t.Errorf("entry %+v", e)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Errorf("directory holds %v %v, want one file", names, err)
	}
	if others, err := o.List(uuid.New(), 10); err != nil || len(others) != 0 {
		t.Errorf("another organization sees %v %v", others, err)
	}
	for _, id := range []string{m.Name + "/../x", "../" + m.Name, uuid.NewString() + m.Name[36:], ""} {
		if _, ok, err := o.Open(organizationID, id); ok || err != nil {
			t.Errorf("opened %q: %v %v", id, ok, err)
		}
	}
	if _, ok, err := o.Open(uuid.New(), m.Name); ok || err != nil {
		t.Errorf("another organization opened the mail: %v %v", ok, err)
	}
}

func transport(t *testing.T, s *mailtest.Server, address string) *mail.SMTP {
	t.Helper()
	config, err := mail.ParseSMTPURL(strings.ReplaceAll(address, "ADDR", s.Addr))
	if err != nil {
		t.Fatal(err)
	}
	config.RootCAs = s.RootCAs
	transport, err := mail.NewSMTP(config)
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

func TestDelivery(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		server  mailtest.Options
		address string
		prepare func(*mailtest.Server)
		want    mail.DeliveryError // zero: taken
		taken   int
	}{
		"plain":                    {address: "smtp://ADDR", taken: 1},
		"STARTTLS where offered":   {server: mailtest.Options{STARTTLS: true}, address: "smtp://ADDR", taken: 1},
		"STARTTLS required":        {server: mailtest.Options{STARTTLS: true}, address: "smtp://ADDR?starttls=required", taken: 1},
		"required, not offered":    {address: "smtp://ADDR?starttls=required", want: mail.DeliveryError{Stage: mail.Opening, Temporary: true}},
		"STARTTLS off":             {address: "smtp://ADDR?starttls=off", taken: 1},
		"smtps":                    {server: mailtest.Options{ImplicitTLS: true}, address: "smtps://ADDR", taken: 1},
		"sign-in":                  {server: mailtest.Options{STARTTLS: true, Username: "u", Password: "p"}, address: "smtp://u:p@ADDR", taken: 1},
		"sign-in over smtps":       {server: mailtest.Options{ImplicitTLS: true, Username: "u", Password: "p"}, address: "smtps://u:p@ADDR", taken: 1},
		"wrong password":           {server: mailtest.Options{STARTTLS: true, Username: "u", Password: "p"}, address: "smtp://u:x@ADDR", want: mail.DeliveryError{Stage: mail.SigningIn, Code: 535, Temporary: true}},
		"recipient refused":        {address: "smtp://ADDR", prepare: func(s *mailtest.Server) { s.Answer(ana.Email, 550, [3]int{5, 1, 1}, "no <ana@example.org> here") }, want: mail.DeliveryError{Stage: mail.Recipient, Code: 550, Enhanced: "5.1.1"}},
		"greylisted":               {address: "smtp://ADDR", prepare: func(s *mailtest.Server) { s.Answer(ana.Email, 451, [3]int{4, 7, 1}, "come back") }, want: mail.DeliveryError{Stage: mail.Recipient, Code: 451, Enhanced: "4.7.1", Temporary: true}},
		"broken after the message": {address: "smtp://ADDR", prepare: func(s *mailtest.Server) { s.DropNext(1) }, want: mail.DeliveryError{Stage: mail.Content, Temporary: true, Unanswered: true}, taken: 1},
		"nobody signs in":          {server: mailtest.Options{Username: "u", Password: "p"}, address: "smtp://ADDR", want: mail.DeliveryError{Stage: mail.Sender, Code: 502, Enhanced: "5.7.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mailtest.Start(t, tc.server)
			if tc.prepare != nil {
				tc.prepare(s)
			}
			receipt, err := transport(t, s, tc.address).Send(t.Context(), compose(t, notice(), ana))
			var failed *mail.DeliveryError
			switch {
			case tc.want == (mail.DeliveryError{}):
				if err != nil || receipt.Code != 250 {
					t.Errorf("receipt %+v, error %v", receipt, err)
				}
			case !errors.As(err, &failed):
				t.Fatalf("error %v, want *DeliveryError", err)
			default:
				if strings.Contains(failed.Error()+failed.Reason(), "@") {
					t.Errorf("an address got out: %v / %s", failed, failed.Reason())
				}
				failed.Text = ""
				if *failed != tc.want {
					t.Errorf("got %+v, want %+v", *failed, tc.want)
				}
			}
			if mails := s.To(ana.Email); len(mails) != tc.taken {
				t.Errorf("%d mails taken, want %d", len(mails), tc.taken)
			}
		})
	}
}

func TestAnUnreachableServerIsATemporaryError(t *testing.T) {
	t.Parallel()
	config, err := mail.ParseSMTPURL("smtp://" + porttest.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	smtp, err := mail.NewSMTP(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = smtp.Send(t.Context(), compose(t, notice(), ana))
	var failed *mail.DeliveryError
	if !errors.As(err, &failed) || !failed.Temporary || failed.Code != 0 || failed.Reason() != "The mail server could not be reached." {
		t.Errorf("error %v", err)
	}
}

func TestASelfSignedCertificateIsNotTrustedUnlessGiven(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t, mailtest.Options{STARTTLS: true})
	s.RootCAs = nil
	_, err := transport(t, s, "smtp://ADDR").Send(t.Context(), compose(t, notice(), ana))
	var failed *mail.DeliveryError
	if !errors.As(err, &failed) || failed.Stage != mail.Opening || !failed.Temporary {
		t.Errorf("error %v", err)
	}
	if len(s.Mails()) != 0 {
		t.Error("the mail went out")
	}
}

func TestParseSMTPURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]mail.SMTPConfig{
		"smtp://mail.example.org":                    {Host: "mail.example.org", Port: 25, StartTLS: "offered"},
		"smtps://mail.example.org":                   {Host: "mail.example.org", Port: 465, StartTLS: "offered", ImplicitTLS: true},
		"smtp://u:p%40ss@mail:587?starttls=required": {Host: "mail", Port: 587, Username: "u", Password: "p@ss", StartTLS: "required"},
	} {
		if got, err := mail.ParseSMTPURL(address); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v %v, want %+v", address, got, err, want)
		}
	}
	for _, address := range []string{"http://mail", "smtp://", "smtp://mail:0", "smtp://mail?starttls=maybe", "smtp://mail?x=1", "smtp://mail?ca=/nowhere", "smtp://u:secret@ma il"} {
		if _, err := mail.ParseSMTPURL(address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v", address, err)
		}
	}
}
