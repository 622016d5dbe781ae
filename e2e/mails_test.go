package e2e

import (
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// mailFile is a mail of the outbox, decoded.
type mailFile struct {
	header netmail.Header
	text   string // of all its parts
}

// mails are those of the outbox that link to a report.
func (i installed) mails(t testing.TB, report uuid.UUID) (found []mailFile) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(i.dir, "outbox", "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if m := readMail(t, string(content)); strings.Contains(m.text, "/exports?reportId="+report.String()) {
			found = append(found, m)
		}
	}
	return found
}

// readMail decodes a message with text and HTML parts.
func readMail(t testing.TB, content string) mailFile {
	t.Helper()
	message, err := netmail.ReadMessage(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return mailFile{header: message.Header, text: readParts(t, message.Header.Get("Content-Type"), message.Body)}
}

// readParts decodes the parts of a multipart, and what is in those.
func readParts(t testing.TB, contentType string, body io.Reader) (all string) {
	t.Helper()
	_, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(body, parameters["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if kind := part.Header.Get("Content-Type"); strings.HasPrefix(kind, "multipart/") {
			all += readParts(t, kind, part)
			continue
		}
		var body io.Reader = part
		switch part.Header.Get("Content-Transfer-Encoding") {
		case "quoted-printable":
			body = quotedprintable.NewReader(part)
		case "base64":
			body = base64.NewDecoder(base64.StdEncoding, part)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
}
