package offline

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"net/textproto"
	"regexp"
	"strings"

	"muster/eventstore"
	"muster/internal/proof/attest"
)

// Mail is a mail about a report, as far as it is checked.
type Mail struct {
	Text   string   // each line ends with a line feed
	Proofs [][]byte // the attachments that are called proof.json
}

// ReadMail reads a mail (RFC 5322); false: the file is no mail with a text.
func ReadMail(file []byte) (m Mail, ok bool) {
	message, err := netmail.ReadMessage(bytes.NewReader(file))
	if err != nil || message.Header.Get("From") == "" {
		return m, false
	}
	m.add(textproto.MIMEHeader(message.Header), message.Body, 0)
	return m, m.Text != ""
}

// mostNested is how deep multiparts are looked into.
const mostNested = 5

// add takes the first text and the proofs out of a part.
func (m *Mail) add(header textproto.MIMEHeader, body io.Reader, depth int) {
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if header.Get("Content-Type") == "" {
		kind, err = "text/plain", nil
	}
	_, disposition, _ := mime.ParseMediaType(header.Get("Content-Disposition"))
	named := disposition["filename"] == attest.FileName || params["name"] == attest.FileName
	switch {
	case named:
		m.Proofs = append(m.Proofs, decoded(header, body))
	case err != nil || depth > mostNested:
	case strings.HasPrefix(kind, "multipart/"):
		parts := multipart.NewReader(body, params["boundary"])
		for part, err := parts.NextRawPart(); err == nil; part, err = parts.NextRawPart() {
			m.add(part.Header, part, depth+1)
		}
	case kind == "text/plain" && m.Text == "":
		m.Text = strings.ReplaceAll(string(decoded(header, body)), "\r\n", "\n")
	}
}

// decoded is the content of a part, as far as it can be read.
func decoded(header textproto.MIMEHeader, body io.Reader) []byte {
	switch strings.ToLower(header.Get("Content-Transfer-Encoding")) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	content, _ := io.ReadAll(body) // a proof that ends too early is not one, and neither are eight lines
	return content
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

// CheckMail checks a mail about a report: the signature in its text over eight of its lines,
// and its proof. If there is a separate one beside it, that one counts (nil: there is none).
// The signature proves the report's digests and its place in the log. A key that ended leaves
// it open, because nothing in the text says when it was made. The proof has other clocks for
// that. Nothing else in a mail is signed.
func CheckMail(m Mail, beside *attest.Proof, trust attest.Trust) Answer {
	c := &check{trust: trust}
	labels := MailLabels(m.Text)
	var lines []string
	for line := range strings.Lines(signedText.FindString(m.Text)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	if lines == nil {
		c.say(attest.StepAttestation, attest.Untold, "The mail lacks the eight lines that its signature covers: it is not a mail about a report, or it comes from an earlier version.")
		return Answered(c.steps, "")
	}
	said := map[string]string{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, " ")
		said[name] = value
	}
	for label, name := range map[string]string{"Request": "report", "SHA-256": "pdf", "Witness": "head"} {
		if labels[label] != said[name] {
			c.say(attest.StepFile, attest.Broken, "The mail says %s %s, but the signature covers %s.", label, labels[label], said[name])
		}
	}
	statement := strings.Join(lines, "\n") + "\n"
	p := c.carried(m, beside, statement)
	signature, err := base64.StdEncoding.DecodeString(labels["Signature"])
	if err != nil {
		c.say(attest.StepAttestation, attest.Broken, "The mail's signature is not in base64.")
		return Answered(c.steps, "")
	}
	if p == nil || !bytes.Equal(signature, p.Attestation.Signature) {
		state, sentence := attest.CheckStatement([]byte(statement), attest.Attestation{KeyID: labels["by key"], Signature: signature}, trust.Keys)
		c.say(attest.StepAttestation, state, "%s", sentence)
	}
	if p == nil {
		c.unproven()
		return Answered(c.steps, fmt.Sprintf("The signature in this mail holds: %s report %s has the PDF with SHA-256 %s, recorded as %s.", said["kind"], said["report"], said["pdf"], said["head"]))
	}
	c.prove(p, pdfOf(p))
	c.steps[0].Detail = fmt.Sprintf("The mail and its proof name the PDF with SHA-256 %s.", p.Report.PDFSHA256)
	a := c.answer(p)
	if a.Verdict == attest.Holds {
		a.Sentence = fmt.Sprintf("The proof of this mail holds: %s report %s has the PDF with SHA-256 %s, recorded as %s.", said["kind"], said["report"], said["pdf"], said["head"])
	}
	return a
}

// carried is the proof with which a mail is checked; nil: there is none. A proof that does not
// match the signed lines of the mail contradicts it.
func (c *check) carried(m Mail, beside *attest.Proof, statement string) *attest.Proof {
	of := func(p attest.Proof) bool {
		hash, err := hex.DecodeString(p.Event.Hash)
		head := eventstore.Head{Log: eventstore.Log(p.Event.Log), Position: p.Event.Position, Hash: hash}
		return err == nil && string(attest.Statement(p.Report, head)) == statement
	}
	var found *attest.Proof
	if len(m.Proofs) > 1 {
		c.say(attest.StepFile, attest.Untold, "The mail has %d attachments named %s, and its signature does not say which one belongs to it.", len(m.Proofs), attest.FileName)
	}
	for _, attached := range m.Proofs {
		p, err := attest.ParseProof(attached)
		switch {
		case err != nil:
			c.say(attest.StepFile, attest.Untold, "The attachment %s cannot be read: %v.", attest.FileName, err)
		case !of(p):
			c.say(attest.StepFile, attest.Broken, "The attachment %s does not match the signed lines of the mail.", attest.FileName)
		default:
			found = &p
		}
	}
	if beside != nil && of(*beside) { // another report's is beside another file
		found = beside
	}
	return found
}

// pdfOf is the SHA-256 of the PDF that a proof is about, which was read.
func pdfOf(p *attest.Proof) (sum [sha256.Size]byte) {
	digest, _ := hex.DecodeString(p.Report.PDFSHA256)
	copy(sum[:], digest)
	return sum
}

// unproven says what was asked for, and is in no mail without a proof.
func (c *check) unproven() {
	if c.trust.TSA != nil {
		c.say(attest.StepTimestamp, attest.Untold, "There is no time stamp to check: the mail has no %s.", attest.FileName)
	}
	if len(c.trust.Witnesses) > 0 {
		c.say(attest.StepWitness, attest.Untold, "There is no witness's signature to check: the mail has no %s.", attest.FileName)
	}
}

// Answered is the answer of a document that is no file of a report; held is its
// sentence where nothing contradicts.
func Answered(steps []attest.Step, held string) Answer {
	a := Answer{Verdict: attest.VerdictOf(steps), Steps: attest.InOrder(steps), Sentence: held}
	switch a.Verdict {
	case attest.Contradicted:
		a.Sentence = "This is not what it claims to be. " + attest.FirstOff(steps)
	case attest.CannotTell:
		a.Sentence = "The given files are not enough to tell. " + attest.FirstOff(steps)
	case attest.Holds:
	}
	return a
}
