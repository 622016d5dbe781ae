package mail

import (
	"bytes"
	"context"
	"fmt"
	netmail "net/mail"
	"regexp"

	"github.com/google/uuid"
	gomail "github.com/wneessen/go-mail"
)

// idHost is the right side of every Message-ID. It does not depend on any
// setting: a change of the public URL between two attempts must not make two
// mails of one. (.internal is reserved for names that are never resolved.)
const idHost = "reports.muster.internal"

// MessageID is the Message-ID of a report's mail to a member, without the
// angle brackets.
func MessageID(report, member uuid.UUID) string {
	return fmt.Sprintf("%s.%s@%s", report, member, idHost)
}

// ComposedMail is a composed mail to one recipient.
type ComposedMail struct {
	ID      string // Message-ID without the angle brackets
	Name    string // names the outbox file: <organization>.<report>.<member>
	Subject string
	msg     *gomail.Msg
}

// Bytes is the message as every Transport hands it over.
func (m ComposedMail) Bytes() ([]byte, error) {
	var whole bytes.Buffer
	if _, err := m.msg.WriteTo(&whole); err != nil {
		return nil, fmt.Errorf("write a mail: %w", err)
	}
	return whole.Bytes(), nil
}

// Handover says what became of a message that was taken.
type Handover struct {
	Code int // the server's answer, 250; 0: written to the outbox
}

// Transport delivers messages. Errors: *DeliveryError.
type Transport interface {
	Send(ctx context.Context, m ComposedMail) (Handover, error)
	// Check says whether a message could be delivered now, and delivers none.
	Check(ctx context.Context) error
}

// DeliveryStage is how far a delivery got before it failed.
type DeliveryStage string

// The stages.
const (
	Addressing DeliveryStage = "addressing" // there is nowhere to send it
	Seeing     DeliveryStage = "seeing"     // the recipient may not see what it is about
	Opening    DeliveryStage = "opening"    // connecting, greeting, TLS
	SigningIn  DeliveryStage = "sign-in"    // AUTH
	Sender     DeliveryStage = "sender"     // MAIL FROM
	Recipient  DeliveryStage = "recipient"  // RCPT TO
	Content    DeliveryStage = "content"    // DATA
	Storing    DeliveryStage = "storing"    // writing to the outbox
)

// DeliveryError reports that a mail was not taken.
type DeliveryError struct {
	Stage     DeliveryStage
	Code      int    // the server's SMTP code; 0: none was given
	Enhanced  string // the server's enhanced status code (RFC 3463), may be empty
	Temporary bool   // trying again may help
	// Unanswered says that the whole message was sent and the server did not say what
	// became of it: it may have been delivered.
	Unanswered bool
	Text       string // what went wrong where no server said so, addresses taken out
}

func (e *DeliveryError) Error() string {
	said := fmt.Sprintf("mail not delivered (%s, code %d", e.Stage, e.Code)
	if e.Enhanced != "" {
		said += " " + e.Enhanced
	}
	if said += ")"; e.Text != "" {
		said += ": " + e.Text
	}
	return said
}

// Reason is a sentence for the event log and the history: no addresses, no
// text of the server's own.
func (e *DeliveryError) Reason() string {
	var said string
	switch {
	case e.Stage == Addressing:
		return "The recipient has no e-mail address."
	case e.Stage == Seeing:
		return "The recipient has the role team and does not see all servers of the report."
	case e.Stage == Storing:
		return "The mail could not be written to the outbox directory."
	case e.Stage == Opening && e.Code == 0:
		return "The mail server could not be reached."
	case e.Stage == SigningIn && e.Code == 0:
		return "Muster could not sign in at the mail server."
	case e.Stage == SigningIn:
		said = "The mail server refused the sign-in"
	case e.Stage == Opening:
		said = "The mail server refused the session"
	case e.Code == 0:
		return "The connection to the mail server broke."
	case e.Stage == Sender:
		said = "The mail server refused the sender"
	case e.Stage == Recipient:
		said = "The mail server refused the recipient"
	default:
		said = "The mail server refused the message"
	}
	if e.Enhanced != "" {
		return fmt.Sprintf("%s (%d %s).", said, e.Code, e.Enhanced)
	}
	return fmt.Sprintf("%s (%d).", said, e.Code)
}

var address = regexp.MustCompile(`[^\s<>"'(),;:]+@[^\s<>"'(),;:]+`)

// withoutAddresses takes everything out of a text that looks like an address.
func withoutAddresses(text string) string { return address.ReplaceAllString(text, "[address]") }

// ParseFrom checks a sender as MUSTER_MAIL_FROM gives it: "Name <address>" or an address.
func ParseFrom(from string) (*netmail.Address, error) {
	a, err := netmail.ParseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("mail sender %q: %w", from, err)
	}
	return a, nil
}
