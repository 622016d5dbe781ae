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
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"muster/internal/concurrency/supervise"
)

// sessionTimeout bounds one mail from connecting to the last answer (contract, §26).
const sessionTimeout = 30 * time.Second

// SMTPConfig is what MUSTER_SMTP_URL says.
type SMTPConfig struct {
	Host               string
	Port               int
	Username, Password string
	Hello              string                          // the name in EHLO; empty: the machine's
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
			return SMTPConfig{}, fmt.Errorf("the SMTP URL's port %q is not valid", p)
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

	took    atomic.Pointer[string] // the mechanism by which the last sign-in was taken; nil: none yet
	mu      sync.Mutex
	judged  time.Time // of the last sign-in
	refused error     // what it came to
}

var _ Transport = (*SMTP)(nil)

// NewSMTP returns a transport to the server of c.
func NewSMTP(c SMTPConfig) (*SMTP, error) {
	if c.Hello == "" {
		var err error
		if c.Hello, err = os.Hostname(); err != nil {
			return nil, fmt.Errorf("the machine's name: %w", err)
		}
	}
	options := []gomail.Option{
		gomail.WithPort(c.Port),
		gomail.WithHELO(c.Hello),
		gomail.WithTLSConfig(c.tls()),
		gomail.WithoutNoop(),
	}
	if c.ImplicitTLS {
		options = append(options, gomail.WithSSL())
	} else {
		options = append(options, gomail.WithTLSPolicy(startTLS[c.StartTLS]))
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
	host := s.config.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]" // go-mail puts the port behind it as it is
	}
	return gomail.NewClient(host, append(slices.Clone(s.options), gomail.WithTimeout(timeout))...)
}

// Send delivers one message, until ctx's deadline at the latest. Errors: *DeliveryError.
func (s *SMTP) Send(ctx context.Context, m ComposedMail) (Handover, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	session, err := s.open(ctx, true)
	if err != nil {
		return Handover{}, opening(err)
	}
	rest, err := s.client(max(time.Until(deadline), time.Millisecond)) // of the time, for the rest of the session
	if err == nil {
		err = rest.SendWithSMTPClient(session, m.msg)
	}
	if writing := (*gomail.SendError)(nil); errors.As(err, &writing) && writing.Reason == gomail.ErrWriteContent {
		_ = session.Close() // QUIT would first end the message, of which only a part was written
	} else if rest != nil {
		_ = rest.CloseWithSMTPClient(session) // QUIT; the answer changes nothing
	}
	if err != nil && !m.msg.IsDelivered() {
		return Handover{}, refusal(err)
	}
	return Handover{Code: takenCode(m.msg.ServerResponse())}, nil
}

// opening is why there is no session.
func opening(err error) *DeliveryError {
	e := &DeliveryError{Stage: Opening, Code: codeOf(err), Temporary: true, Text: ownWords(err)}
	var refused *signInError
	if errors.As(err, &refused) {
		e.Stage, e.Text = SigningIn, refused.Error()
	}
	return e
}

// open begins a session, up to its sign-in where signIn wants one. go-mail gives
// connecting, greeting and the rest a deadline each; ours is for all of them.
func (s *SMTP) open(ctx context.Context, signIn bool) (*smtp.Client, error) {
	type outcome struct {
		session *smtp.Client
		err     error
	}
	opened := make(chan outcome, 1)
	go func() {
		session, err := supervise.Value(func() (*smtp.Client, error) { return s.begin(ctx, signIn) })
		opened <- outcome{session, err}
	}()
	select {
	case o := <-opened:
		return o.session, o.err
	case <-ctx.Done():
		go func() { // it ends by its own deadlines
			if late := <-opened; late.err == nil {
				_ = supervise.Call(late.session.Close)
			}
		}()
		return nil, ctx.Err()
	}
}

// begin connects and signs in. A server that ends the session after a refusal is asked
// once more for each mechanism that is left.
func (s *SMTP) begin(ctx context.Context, signIn bool) (*smtp.Client, error) {
	client, err := s.client(s.timeout)
	if err != nil {
		return nil, err
	}
	failed := new(signInError)
	for {
		session, err := client.DialToSMTPClientWithContext(ctx)
		switch {
		case err != nil && failed.refused != nil:
			return nil, s.judge(failed)
		case err != nil:
			return nil, err
		case !signIn || s.config.Username == "":
			return session, nil
		}
		stop := context.AfterFunc(ctx, func() { _ = session.Close() })
		tried := len(failed.tried)
		err = s.signIn(session, failed)
		if err == nil && stop() {
			return session, s.judge(nil)
		}
		_ = session.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(failed.tried) == tried || errors.Is(err, error(failed)) {
			return nil, s.judge(failed)
		}
	}
}

// judge remembers what a sign-in came to, and returns it.
func (s *SMTP) judge(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.judged, s.refused = time.Now(), err
	return err
}

// signInLife is how long Check goes by the last sign-in: servers lock accounts, and
// whole networks out, that are refused too often.
const signInLife = 5 * time.Minute

// Check opens a session as a mail would, sends nothing, and says what is in the way. It
// signs in where the last sign-in, its own or a mail's, is five minutes ago.
func (s *SMTP) Check(ctx context.Context) error {
	s.mu.Lock()
	refused, signIn := s.refused, time.Since(s.judged) > signInLife
	s.mu.Unlock()
	session, err := s.open(ctx, signIn)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("reach the mail server: %w", ctx.Err())
	}
	if err == nil {
		_ = session.Text.PrintfLine("QUIT") // politeness; what it answers changes nothing
		_ = session.Close()
		err = refused
		if signIn {
			return nil
		}
	}
	if err == nil {
		return nil
	}
	return opening(err)
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
		case gomail.ErrSMTPDataClose:
			e.Unanswered = e.Code == 0
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
