package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// sessionTimeout bounds one mail from connecting to the last answer.
const sessionTimeout = 20 * time.Second

// SMTPConfig is what MUSTER_SMTP_URL says.
type SMTPConfig struct {
	Host               string
	Port               int
	Username, Password string
	ImplicitTLS        bool           // smtps://
	StartTLS           string         // offered (default), required, off
	RootCAs            *x509.CertPool // nil: the system's
}

// How STARTTLS is used.
const (
	StartTLSOffered  = "offered" // where the server offers it
	StartTLSRequired = "required"
	StartTLSOff      = "off"
)

// ParseSMTPURL reads smtp://user:password@host:port or smtps://…, with
// ?starttls=offered|required|off and ?ca=FILE (PEM) for a server whose
// certificate the system does not know. Ports default to 25 and 465. Errors
// never hold the password.
func ParseSMTPURL(address string) (SMTPConfig, error) {
	u, err := url.Parse(address)
	if err != nil { // url.Parse quotes what it was given
		return SMTPConfig{}, errors.New("the SMTP URL is not a URL")
	}
	c := SMTPConfig{Host: u.Hostname(), Port: 25, StartTLS: StartTLSOffered, ImplicitTLS: u.Scheme == "smtps"}
	switch {
	case u.Scheme != "smtp" && u.Scheme != "smtps":
		return SMTPConfig{}, fmt.Errorf("the SMTP URL starts with %q, not with smtp:// or smtps://", u.Scheme)
	case c.Host == "":
		return SMTPConfig{}, errors.New("the SMTP URL names no host")
	case c.ImplicitTLS:
		c.Port = 465
	}
	if p := u.Port(); p != "" {
		if c.Port, err = strconv.Atoi(p); err != nil || c.Port < 1 || c.Port > 65535 {
			return SMTPConfig{}, fmt.Errorf("the SMTP URL's port %q is none", p)
		}
	}
	c.Username = u.User.Username()
	c.Password, _ = u.User.Password()
	for key, values := range u.Query() {
		value := values[len(values)-1]
		switch key {
		case "starttls":
			if value != StartTLSOffered && value != StartTLSRequired && value != StartTLSOff {
				return SMTPConfig{}, fmt.Errorf("the SMTP URL's starttls is %q, not offered, required or off", value)
			}
			c.StartTLS = value
		case "ca":
			if c.RootCAs, err = readCAs(value); err != nil {
				return SMTPConfig{}, err
			}
		default:
			return SMTPConfig{}, fmt.Errorf("the SMTP URL has an unknown parameter %q", key)
		}
	}
	return c, nil
}

func readCAs(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("the SMTP URL's ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("the SMTP URL's ca: no certificate in %s", file)
	}
	return pool, nil
}

// SMTP delivers to a mail server, one session a mail.
type SMTP struct {
	client *gomail.Client
}

var _ Transport = (*SMTP)(nil)

// NewSMTP returns a transport to the server of c.
func NewSMTP(c SMTPConfig) (*SMTP, error) {
	options := []gomail.Option{
		gomail.WithPort(c.Port),
		gomail.WithTimeout(sessionTimeout),
		gomail.WithTLSConfig(&tls.Config{ServerName: c.Host, RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12}),
		gomail.WithoutNoop(),
	}
	switch {
	case c.ImplicitTLS:
		options = append(options, gomail.WithSSL())
	case c.StartTLS == StartTLSRequired:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case c.StartTLS == StartTLSOff:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	}
	if c.Username != "" {
		// Picks the strongest mechanism offered, and none that shows the password on an open line.
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(c.Username), gomail.WithPassword(c.Password))
	}
	client, err := gomail.NewClient(c.Host, options...)
	if err != nil {
		return nil, fmt.Errorf("mail client: %w", err)
	}
	return &SMTP{client: client}, nil
}

// Send delivers one message. Errors: *DeliveryError.
func (s *SMTP) Send(ctx context.Context, m Message) (Receipt, error) {
	session, err := s.client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return Receipt{}, &DeliveryError{Stage: Opening, Code: codeOf(err), Temporary: true, Text: ownWords(err)}
	}
	err = s.client.SendWithSMTPClient(session, m.msg)
	_ = s.client.CloseWithSMTPClient(session) // QUIT; the answer changes nothing
	if err != nil && !m.msg.IsDelivered() {
		return Receipt{}, refusal(err)
	}
	return Receipt{Code: takenCode(m.msg.ServerResponse())}, nil
}

// refusal turns go-mail's error into ours. Only a 5xx is final: without a code
// the connection broke.
func refusal(err error) *DeliveryError {
	e := &DeliveryError{Stage: Content, Code: codeOf(err), Text: ownWords(err)}
	var sendErr *gomail.SendError
	if errors.As(err, &sendErr) {
		if sendErr.ErrorCode() != 0 {
			e.Code = sendErr.ErrorCode()
		}
		e.Enhanced = sendErr.EnhancedStatusCode()
		switch sendErr.Reason {
		case gomail.ErrSMTPMailFrom, gomail.ErrGetSender:
			e.Stage = Sender
		case gomail.ErrSMTPRcptTo, gomail.ErrGetRcpts:
			e.Stage = Recipient
		default:
		}
	}
	e.Temporary = e.Code < 500
	return e
}

func codeOf(err error) int {
	var answer *textproto.Error
	if errors.As(err, &answer) {
		return answer.Code
	}
	return 0
}

// ownWords is what went wrong on the way. What a server answered is told by its
// codes: its text is its own, and names people in any form it likes.
func ownWords(err error) string {
	var answer *textproto.Error
	var sendErr *gomail.SendError
	if errors.As(err, &answer) || errors.As(err, &sendErr) && sendErr.ErrorCode() != 0 {
		return ""
	}
	return withoutAddresses(err.Error())
}

// takenCode is the code of the answer to a message that was taken.
func takenCode(answer string) int {
	first, _, _ := strings.Cut(strings.TrimSpace(answer), " ")
	if code, err := strconv.Atoi(first); err == nil && code >= 200 && code < 300 {
		return code
	}
	return 250
}
