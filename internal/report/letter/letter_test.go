package letter_test

import (
	"bytes"
	"errors"
	"html"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/mail"
	"muster/internal/report/letter"
	"muster/internal/report/snapshot/companion"
	"muster/internal/report/snapshot/day"
	"muster/internal/report/snapshot/snapshottest"
)

func composed(t *testing.T, d *mail.Digest) (text, page, subject string) {
	t.Helper()
	c := &mail.Composer{From: &netmail.Address{Address: "muster@example.org"}, Now: time.Now}
	m, err := c.Compose(mail.ReadyNotice{
		ReportID: uuid.New(), MemberID: uuid.New(), Organization: "Nordlicht", PublicURL: "https://muster.example.org", Kind: "Daily Operations Digest",
		Schedule: &mail.Schedule{ID: uuid.New(), Name: "Morning"}, At: time.Now(), Digest: d,
	}, mail.Address{Email: "ana@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := netmail.ReadMessage(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	partsOf(t, parsed.Header.Get("Content-Type"), parsed.Body, parts)
	return parts["text/plain"], parts["text/html"], m.Subject
}

// partsOf takes a message apart.
func partsOf(t *testing.T, contentType string, body io.Reader, parts map[string]string) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(kind, "multipart/") {
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		parts[kind] = string(text)
		return
	}
	reader := multipart.NewReader(body, params["boundary"])
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		partsOf(t, part.Header.Get("Content-Type"), part, parts)
	}
}

// TestTheMailHasAllTextOfThePage, as text and as HTML, from digest.json.
func TestTheMailHasAllTextOfThePage(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.DailyDigest)
	var file strings.Builder
	if err := companion.Write(&file, report.DigestFile, doc); err != nil {
		t.Fatal(err)
	}
	d, err := letter.Read([]byte(file.String()), "https://muster.example.org")
	if err != nil {
		t.Fatal(err)
	}
	text, page, subject := composed(t, d)
	plain := strings.Join(strings.Fields(text), " ")
	page = html.UnescapeString(page)
	p := day.PageOf(*doc.Day)
	words := []string{p.Title, p.When, p.Headline, p.Rest, p.First.Text, p.First.Note, "https://muster.example.org/alerts/" + doc.Day.Verdict.First.Alert.String()}
	words = append(words, "critical, since today 02:38") // a level is a word, too, and not a color alone
	for _, s := range p.Sections {
		words = append(words, s.Aside)
		for _, f := range s.Figures {
			words = append(words, f.Value, f.Label, f.Note)
		}
		for _, r := range s.Rows {
			words = append(words, r.Label, r.Text, r.Note)
		}
	}
	for _, w := range words {
		if !strings.Contains(plain, strings.Join(strings.Fields(w), " ")) {
			t.Errorf("the text does not say %q", w)
		}
		if !strings.Contains(page, w) {
			t.Errorf("the page does not say %q", w)
		}
	}
	if want := "Daily digest: 2 servers need you, 43 overdue (+1), 1 silent · Morning"; subject != want {
		t.Errorf("the subject is %q, want %q", subject, want)
	}
}

// TestTextsOfMachinesAreData: they come in escaped, and cannot fill in a name of a template.
func TestTextsOfMachinesAreData(t *testing.T) {
	t.Parallel()
	d := snapshottest.Rich(report.DailyDigest).Day
	evil := `<script>alert(1)</script> ${Proof} ${SHA256}`
	d.Verdict.First.What, d.Trouble.Listed[0].What, d.Statements.Slower[0].Text = evil, []string{evil}, evil
	_, page, _ := composed(t, letter.Of(day.PageOf(*d), ""))
	if strings.Contains(page, "<script>") || strings.Count(page, "${SHA256}") < 2 {
		t.Errorf("a text of a machine is markup, or a name of the template")
	}
}
