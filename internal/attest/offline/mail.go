package offline

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"regexp"
	"strings"

	"muster/internal/attest"
)

// MailText is the text of a mail (RFC 5322), in which each line ends with a line feed; false:
// the file is no mail with a text.
func MailText(file []byte) (string, bool) {
	message, err := netmail.ReadMessage(bytes.NewReader(file))
	if err != nil || message.Header.Get("From") == "" {
		return "", false
	}
	return plain(message.Header.Get("Content-Type"), message.Header.Get("Content-Transfer-Encoding"), message.Body, 0)
}

// mostNested is how deep multiparts are looked into.
const mostNested = 5

func plain(contentType, encoding string, body io.Reader, depth int) (string, bool) {
	kind, params, err := mime.ParseMediaType(contentType)
	if contentType == "" {
		kind, err = "text/plain", nil
	}
	if err != nil || depth > mostNested {
		return "", false
	}
	if strings.HasPrefix(kind, "multipart/") {
		parts := multipart.NewReader(body, params["boundary"])
		for {
			part, err := parts.NextRawPart()
			if err != nil {
				return "", false
			}
			if text, ok := plain(part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part, depth+1); ok {
				return text, true
			}
		}
	}
	if kind != "text/plain" {
		return "", false
	}
	switch strings.ToLower(encoding) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, err := io.ReadAll(body)
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err == nil
}

// The lines of a mail about a report.
var (
	signedText = regexp.MustCompile(`(?m)^[ \t]*muster-report-1\n(?:.*\n){7}`)
	labelled   = regexp.MustCompile(`(?m)^[ \t]*(Request|SHA-256|Witness|Signature|by key)[ \t]+(\S+)[ \t]*$`)
)

// MailLabels are the values that a mail about a report prints, by their labels.
func MailLabels(text string) map[string]string {
	found := map[string]string{}
	for _, m := range labelled.FindAllStringSubmatch(text, -1) {
		if _, ok := found[m[1]]; !ok {
			found[m[1]] = m[2]
		}
	}
	return found
}

// CheckMail checks the signature in the text of a mail (MailText) over the eight lines that
// it is over. It proves the report's digests and its place in the log, and nothing else of
// the mail. The mail has no date that is signed, so a key that ended leaves it open.
func CheckMail(text string, trust attest.Trust) Answer {
	c := &check{trust: trust}
	labels := MailLabels(text)
	var lines []string
	for line := range strings.Lines(signedText.FindString(text)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	if lines == nil {
		c.say(attest.StepAttestation, attest.Untold, "The mail does not have the eight lines that its signature is over: it is no mail about a report, or one of before.")
		return Answered(c.steps, "")
	}
	said := map[string]string{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, " ")
		said[name] = value
	}
	for label, name := range map[string]string{"Request": "report", "SHA-256": "pdf", "Witness": "head"} {
		if labels[label] != said[name] {
			c.say(attest.StepFile, attest.Broken, "The mail says %s %s, and the signature is over %s.", label, labels[label], said[name])
		}
	}
	signature, err := base64.StdEncoding.DecodeString(labels["Signature"])
	if err != nil {
		c.say(attest.StepAttestation, attest.Broken, "The mail's signature is not in base64.")
		return Answered(c.steps, "")
	}
	state, sentence := attest.CheckStatement([]byte(strings.Join(lines, "\n")+"\n"), attest.Attestation{KeyID: labels["by key"], Signature: signature}, trust.Keys)
	c.say(attest.StepAttestation, state, "%s", sentence)
	return Answered(c.steps, fmt.Sprintf("The signature in this mail holds: %s report %s has the PDF with SHA-256 %s, recorded as %s.", said["kind"], said["report"], said["pdf"], said["head"]))
}

// Answered is the answer of a document that is no file of a report; held is its
// sentence where nothing contradicts.
func Answered(steps []attest.Step, held string) Answer {
	a := Answer{Verdict: attest.VerdictOf(steps), Steps: attest.InOrder(steps), Sentence: held}
	switch a.Verdict {
	case attest.Contradicted:
		a.Sentence = "This is not what it claims to be. " + attest.FirstOff(steps)
	case attest.CannotTell:
		a.Sentence = "Nobody can tell from what was given. " + attest.FirstOff(steps)
	case attest.Holds:
	}
	return a
}
