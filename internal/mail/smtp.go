package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// sessionTimeout bounds one mail from connecting to the last answer (contract, §26).
const sessionTimeout = 30 * time.Second

// SMTPConfig is what MUSTER_SMTP_URL says.
type SMTPConfig struct {
	Host               string
	Port               int
	Username, Password string
	ImplicitTLS        bool                            // smtps://
	StartTLS           string                          // one of startTLS
	RootCAs            *x509.CertPool                  // nil: the system's
	Met                func(tls.ConnectionState) error // sees each server that could be trusted; nil: nobody does
}

// startTLS is how STARTTLS is used; offered: where the server offers it.
var startTLS = map[string]gomail.TLSPolicy{"offered": gomail.TLSOpportunistic, "required": gomail.TLSMandatory, "off": gomail.NoTLS}

// ParseSMTPURL reads smtp://user:password@host:port or smtps://…, with
// ?starttls=offered|required|off and ?ca=FILE (PEM) for a server whose
// certificate the system does not know. Ports default to 25 and 465. Errors
// never hold the password.
func ParseSMTPURL(address string) (SMTPConfig, error) {
	u, err := url.Parse(address)
	if err != nil { // url.Parse quotes what it was given
		return SMTPConfig{}, errors.New("the SMTP URL is not a URL")
	}
	c := SMTPConfig{Host: u.Hostname(), Port: 25, StartTLS: "offered", ImplicitTLS: u.Scheme == "smtps"}
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
			if _, known := startTLS[value]; !known {
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
	config  SMTPConfig
	options []gomail.Option
	timeout time.Duration
}

var _ Transport = (*SMTP)(nil)

// NewSMTP returns a transport to the server of c.
func NewSMTP(c SMTPConfig) (*SMTP, error) {
	options := []gomail.Option{
		gomail.WithPort(c.Port),
		gomail.WithTLSConfig(c.tls()),
		gomail.WithoutNoop(),
	}
	if c.ImplicitTLS {
		options = append(options, gomail.WithSSL())
	} else {
		options = append(options, gomail.WithTLSPolicy(startTLS[c.StartTLS]))
	}
	if c.Username != "" {
		// Picks the strongest mechanism offered, and none that shows the password on an open line.
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(c.Username), gomail.WithPassword(c.Password))
	}
	s := &SMTP{config: c, options: options, timeout: sessionTimeout}
	if _, err := s.client(s.timeout); err != nil {
		return nil, fmt.Errorf("mail client: %w", err)
	}
	return s, nil
}

func (c SMTPConfig) tls() *tls.Config {
	return &tls.Config{ServerName: c.Host, RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12, VerifyConnection: c.Met}
}

// client is one that has so much time for each of its calls.
func (s *SMTP) client(timeout time.Duration) (*gomail.Client, error) {
	return gomail.NewClient(s.config.Host, append(slices.Clone(s.options), gomail.WithTimeout(timeout))...)
}

// Send delivers one message. Errors: *DeliveryError.
func (s *SMTP) Send(ctx context.Context, m ComposedMail) (Handover, error) {
	deadline := time.Now().Add(s.timeout)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	session, err := s.open(ctx)
	if err != nil {
		return Handover{}, &DeliveryError{Stage: Opening, Code: codeOf(err), Temporary: true, Text: ownWords(err)}
	}
	rest, err := s.client(max(time.Until(deadline), time.Millisecond)) // of the time, for the rest of the session
	if err == nil {
		err = rest.SendWithSMTPClient(session, m.msg)
		_ = rest.CloseWithSMTPClient(session) // QUIT; the answer changes nothing
	}
	if err != nil && !m.msg.IsDelivered() {
		return Handover{}, refusal(err)
	}
	return Handover{Code: takenCode(m.msg.ServerResponse())}, nil
}

// open begins a session, up to its sign-in. go-mail gives connecting, greeting and the
// rest a deadline each; ours is for all of them.
func (s *SMTP) open(ctx context.Context) (*smtp.Client, error) {
	client, err := s.client(s.timeout)
	if err != nil {
		return nil, err
	}
	type outcome struct {
		session *smtp.Client
		err     error
	}
	opened := make(chan outcome, 1)
	go func() {
		session, err := client.DialToSMTPClientWithContext(ctx)
		opened <- outcome{session, err}
	}()
	select {
	case o := <-opened:
		return o.session, o.err
	case <-ctx.Done():
		go func() { // it ends by its own deadlines
			if late := <-opened; late.err == nil {
				_ = late.session.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// Check says whether the server takes connections and greets, and sends nothing.
func (s *SMTP) Check(ctx context.Context) error {
	var dialer net.Dialer
	dial := dialer.DialContext
	if s.config.ImplicitTLS {
		dial = (&tls.Dialer{NetDialer: &dialer, Config: s.config.tls()}).DialContext
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(s.config.Host, strconv.Itoa(s.config.Port)))
	if err != nil {
		return fmt.Errorf("reach the mail server: %w", err)
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	server := textproto.NewConn(conn)
	if _, _, err := server.ReadResponse(greeting); err != nil {
		if code := codeOf(err); code != 0 {
			return fmt.Errorf("the mail server greets with %d", code)
		}
		return fmt.Errorf("read the mail server's greeting: %w", errors.Join(ctx.Err(), err))
	}
	_ = server.PrintfLine("QUIT") // politeness; what it answers changes nothing
	return nil
}

// greeting is the code of a server that is there for us (RFC 5321, section 3.1).
const greeting = 220

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
