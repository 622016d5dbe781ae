package offline_test

import (
	"crypto/x509"
	"encoding/base64"
	netmail "net/mail"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/mail"
	"muster/internal/proof/attest"
	"muster/internal/proof/attest/attesttest"
	"muster/internal/proof/attest/offline"
)

// mailOf is the mail about the report of a proof, with the attachment proof.json, or without (nil).
func mailOf(t *testing.T, p attest.Proof, proof []byte) []byte {
	t.Helper()
	head := "reports:700:" + p.Event.Hash
	statement := "muster-report-1\nreport " + p.Report.ID.String() + "\nkind Security\norganization " + p.Report.Organization.String() +
		"\nscope " + p.Report.ScopeSHA256 + "\npdf " + p.Report.PDFSHA256 + "\ninputs " + p.Report.InputsSHA256 + "\nhead " + head + "\n"
	composer := mail.Composer{From: &netmail.Address{Address: "muster@example.org"}, Now: time.Now}
	message, err := composer.Compose(mail.ReadyNotice{
		OrganizationID: p.Report.Organization, ReportID: p.Report.ID, MemberID: uuid.New(), Organization: "Räte", PublicURL: "https://muster.example",
		Kind: "Security Report", FileName: "security.pdf", SHA256: p.Report.PDFSHA256, Witness: head,
		KeyID: p.Attestation.KeyID, Signature: base64.StdEncoding.EncodeToString(p.Attestation.Signature), Statement: statement, Proof: proof,
	}, mail.Address{Email: "ana@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	file, err := message.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestAMail: its signature is checked over the eight lines that it prints, and what it says
// beside them has to be the same.
func TestAMail(t *testing.T) {
	t.Parallel()
	ours, theirs := attesttest.New(t, "ours"), attesttest.New(t, "theirs")
	p := ours.Prove([]byte("%PDF-1.7 one"), 700, 1000)
	m, ok := offline.ReadMail(mailOf(t, p, nil))
	text, head := m.Text, "reports:700:"+p.Event.Hash
	if !ok || offline.MailLabels(text)["Witness"] != head || m.Proofs != nil {
		t.Fatalf("the mail has %d proofs and the text %q", len(m.Proofs), text)
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
		if a := offline.CheckMail(offline.Mail{Text: c.text}, nil, attest.Trust{Keys: c.keys}); a.Verdict != c.verdict || a.Sentence == "" {
			t.Errorf("%s: it %s, want %s: %s", name, a.Verdict, c.verdict, a.Sentence)
		}
	}
	for name, file := range map[string]string{"a table": "a,b\r\n1,2\r\n", "nothing": "", "a PDF": "%PDF-1.7\n", "a page": "From: a\r\nContent-Type: text/html\r\n\r\n<p>"} {
		if m, ok := offline.ReadMail([]byte(file)); ok {
			t.Errorf("%s is taken for a mail with the text %q", name, m.Text)
		}
	}
}

// TestAMailWithItsProof: the attachment is checked as a proof.json is, and has to be about what
// the mail says. It shows what the mail alone cannot: the log, and what others have signed.
func TestAMailWithItsProof(t *testing.T) {
	t.Parallel()
	ours := attesttest.New(t, "ours")
	p, other := ours.Prove([]byte("%PDF-1.7 one"), 700, 1000), ours.Prove([]byte("%PDF-1.7 two"), 700, 1000)
	document := func(p attest.Proof, change func(*attest.Proof)) []byte {
		if change != nil {
			change(&p)
		}
		b, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	none := func(*attest.Proof) {}
	whole := document(p, none)
	witness, err := attest.ParseWitnesses([]byte("witness.example/w+75cef7f1+AZGUvF5Uvb3bAgbzUTcDzSRBYgEqbBCzQCsOqPtFEWwA"))
	if err != nil {
		t.Fatal(err)
	}
	witnessed := attest.Trust{Keys: ours.Keys(), Witnesses: witness}
	stamped := attest.Trust{Keys: ours.Keys(), TSA: x509.NewCertPool()}
	for name, c := range map[string]struct {
		mail    []byte
		beside  *attest.Proof
		trust   attest.Trust
		verdict attest.Verdict
		says    string
	}{
		"as it was sent":                       {mailOf(t, p, whole), nil, attest.Trust{Keys: ours.Keys()}, attest.Holds, "The proof of this mail holds"},
		"the attachment is not sent on":        {mailOf(t, p, nil), nil, attest.Trust{Keys: ours.Keys()}, attest.Holds, "The signature in this mail holds"},
		"not sent on, and it lies beside":      {mailOf(t, p, nil), &p, attest.Trust{Keys: ours.Keys()}, attest.Holds, "The proof of this mail holds"},
		"beside lies another report's":         {mailOf(t, p, nil), &other, attest.Trust{Keys: ours.Keys()}, attest.Holds, "The signature in this mail holds"},
		"not sent on, and a witness is wanted": {mailOf(t, p, nil), nil, witnessed, attest.CannotTell, "has no proof.json"},
		"not sent on, and a clock is wanted":   {mailOf(t, p, nil), nil, stamped, attest.CannotTell, "has no proof.json"},
		"no witness has signed it":             {mailOf(t, p, whole), nil, witnessed, attest.CannotTell, "None of the 1 named witnesses"},
		"another report's":                     {mailOf(t, p, document(other, none)), nil, attest.Trust{Keys: ours.Keys()}, attest.Contradicted, "does not match the signed lines"},
		"another kind":                         {mailOf(t, p, document(p, func(p *attest.Proof) { p.Report.Kind = "DataInventory" })), nil, attest.Trust{Keys: ours.Keys()}, attest.Contradicted, "does not match the signed lines"},
		"the event changed":                    {mailOf(t, p, []byte(strings.Replace(string(whole), `pages\":12`, `pages\":13`, 1))), nil, attest.Trust{Keys: ours.Keys()}, attest.Contradicted, "hash does not match"},
		"another place in the tree":            {mailOf(t, p, document(p, func(p *attest.Proof) { p.Inclusion = p.Inclusion[1:] })), nil, attest.Trust{Keys: ours.Keys()}, attest.Contradicted, "not in the log's tree"},
		"another signature":                    {mailOf(t, p, document(p, func(p *attest.Proof) { p.Attestation.Signature = other.Attestation.Signature })), nil, attest.Trust{Keys: ours.Keys()}, attest.Contradicted, "signed a different statement"},
		"half of it":                           {mailOf(t, p, whole[:len(whole)/2]), nil, attest.Trust{Keys: ours.Keys()}, attest.CannotTell, "cannot be read"},
		"two of them":                          {twice(t, mailOf(t, p, whole)), nil, attest.Trust{Keys: ours.Keys()}, attest.CannotTell, "2 attachments"},
		"another installation's keys":          {mailOf(t, p, whole), nil, attest.Trust{Keys: attesttest.New(t, "theirs").Keys()}, attest.CannotTell, "None of the given keys"},
	} {
		m, ok := offline.ReadMail(c.mail)
		if !ok {
			t.Fatalf("%s: it is no mail", name)
		}
		a := offline.CheckMail(m, c.beside, c.trust)
		if a.Verdict != c.verdict || !strings.Contains(a.Sentence, c.says) {
			t.Errorf("%s: it %s, want %s: %s", name, a.Verdict, c.verdict, a.Sentence)
		}
		if c.verdict == attest.Holds && strings.Contains(c.says, "proof") && (a.Report == nil || *a.Report != p.Report || len(a.Steps) != 7) {
			t.Errorf("%s: it is about %+v: %+v", name, a.Report, a.Steps)
		}
	}
	recorded, err := offline.ReadRecorded(mailOf(t, p, whole))
	if err != nil || recorded.Proof == nil || recorded.PDFSHA256 != p.Report.PDFSHA256 || recorded.Fault != "" {
		t.Errorf("of the mail, recorded is %+v, %v", recorded, err)
	}
}

// twice is a mail with its last part twice.
func twice(t *testing.T, mail []byte) []byte {
	t.Helper()
	boundary := regexp.MustCompile(`boundary=(mixed-\S+)`).FindSubmatch(mail)
	if boundary == nil {
		t.Fatal("the mail has no attachment")
	}
	parts := strings.Split(string(mail), "--"+string(boundary[1]))
	last := len(parts) - 2
	return []byte(strings.Join(slices.Insert(parts, last, parts[last]), "--"+string(boundary[1])))
}
