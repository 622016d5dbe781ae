package offline_test

import (
	"encoding/base64"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/attest"
	"muster/internal/attest/attesttest"
	"muster/internal/attest/offline"
	"muster/internal/mail"
)

// TestAMail: its signature is checked over the eight lines that it prints, and what it says
// beside them has to be the same.
func TestAMail(t *testing.T) {
	t.Parallel()
	ours, theirs := attesttest.New(t, "ours"), attesttest.New(t, "theirs")
	p := ours.Prove([]byte("%PDF-1.7 one"), 700, 1000)
	head := "reports:700:" + p.Event.Hash
	statement := "muster-report-1\nreport " + p.Report.ID.String() + "\nkind Security\norganization " + p.Report.Organization.String() +
		"\nscope " + p.Report.ScopeSHA256 + "\npdf " + p.Report.PDFSHA256 + "\ninputs " + p.Report.InputsSHA256 + "\nhead " + head + "\n"
	composer := mail.Composer{From: &netmail.Address{Address: "muster@example.org"}, Now: time.Now}
	message, err := composer.Compose(mail.ReadyNotice{
		OrganizationID: p.Report.Organization, ReportID: p.Report.ID, MemberID: uuid.New(), Organization: "Räte", PublicURL: "https://muster.example",
		Kind: "Security Report", FileName: "security.pdf", SHA256: p.Report.PDFSHA256, Witness: head,
		KeyID: p.Attestation.KeyID, Signature: base64.StdEncoding.EncodeToString(p.Attestation.Signature), Statement: statement,
	}, mail.Address{Email: "ana@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	file, err := message.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	text, ok := offline.MailText(file)
	if !ok || offline.MailLabels(text)["Witness"] != head {
		t.Fatalf("the mail has the text %q", text)
	}
	end := p.Event.RecordedAt.Add(time.Hour)
	retired := ours.Keys()
	for i := range retired.Keys {
		retired.Keys[i].ValidTo = &end
	}
	replaced := func(old, by string, n int) string {
		changed := strings.Replace(text, old, by, n)
		if changed == text {
			t.Fatalf("there is no %s", old)
		}
		return changed
	}
	for name, c := range map[string]struct {
		text    string
		keys    attest.Keys
		verdict attest.Verdict
	}{
		"as it was sent":                {text, ours.Keys(), attest.Holds},
		"forwarded, and so indented":    {strings.ReplaceAll(text, "\n", "\n  "), ours.Keys(), attest.Holds},
		"another digest":                {replaced("SHA-256    "+p.Report.PDFSHA256[:2], "SHA-256    ff", 1), ours.Keys(), attest.Contradicted},
		"another digest in both places": {replaced(p.Report.PDFSHA256, strings.Repeat("ab", 32), -1), ours.Keys(), attest.Contradicted},
		"another kind":                  {replaced("kind Security", "kind DataInventory", 1), ours.Keys(), attest.Contradicted},
		"another scope":                 {replaced("scope 00", "scope 01", 1), ours.Keys(), attest.Contradicted},
		"another witness":               {replaced("reports:700:", "reports:701:", 1), ours.Keys(), attest.Contradicted},
		"another signature":             {replaced("Signature  ", "Signature  AAAA", 1), ours.Keys(), attest.Contradicted},
		"a second line of a label":      {replaced("  Witness  ", "  Witness    reports:1:00\n  Witness  ", 1), ours.Keys(), attest.Contradicted},
		"without the eight lines":       {replaced("muster-report-1\n", "", 1), ours.Keys(), attest.CannotTell},
		"another installation's keys":   {text, theirs.Keys(), attest.CannotTell},
		"a key that was retired":        {text, retired, attest.CannotTell},
	} {
		if a := offline.CheckMail(c.text, attest.Trust{Keys: c.keys}); a.Verdict != c.verdict || a.Sentence == "" {
			t.Errorf("%s: it %s, want %s: %s", name, a.Verdict, c.verdict, a.Sentence)
		}
	}
	for name, file := range map[string]string{"a table": "a,b\r\n1,2\r\n", "nothing": "", "a PDF": "%PDF-1.7\n", "a page": "From: a\r\nContent-Type: text/html\r\n\r\n<p>"} {
		if text, ok := offline.MailText([]byte(file)); ok {
			t.Errorf("%s is taken for a mail with the text %q", name, text)
		}
	}
}
