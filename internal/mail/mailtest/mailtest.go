package mailtest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	netmail "net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Options say what kind of server it is. The zero value is a plain one.
type Options struct {
	STARTTLS           bool
	ImplicitTLS        bool
	Username, Password string // empty: no sign-in
}

// Mail is a message that the server took.
type Mail struct {
	From string
	To   []string
	Data string
}

// Header returns a header of the message.
func (m Mail) Header(name string) string {
	parsed, err := netmail.ReadMessage(strings.NewReader(m.Data))
	if err != nil {
		return ""
	}
	return parsed.Header.Get(name)
}

// Server is a running mail server.
type Server struct {
	Addr        string
	RootCAs     *x509.CertPool // that know its certificate; nil without TLS
	Certificate []byte         // PEM; empty without TLS

	options Options
	mu      sync.Mutex
	mails   []Mail
	answers map[string]*smtp.SMTPError // by recipient
	drop    int                        // messages whose connection breaks after DATA
}

// Start runs a server until the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{options: o, answers: map[string]*smtp.SMTPError{}}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{server: s, conn: c, open: o.Username == ""}, nil
	}))
	server.Domain = "localhost"
	server.AllowInsecureAuth = true
	server.ReadTimeout, server.WriteTimeout = 10*time.Second, 10*time.Second
	server.ErrorLog = quiet{}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	s.Addr = listener.Addr().String()
	if o.STARTTLS || o.ImplicitTLS {
		web := httptest.NewTLSServer(nil) // for its certificate, which is of 127.0.0.1
		web.Close()
		s.RootCAs = x509.NewCertPool()
		s.RootCAs.AddCert(web.Certificate())
		s.Certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
		config := &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12}
		if o.ImplicitTLS {
			listener = tls.NewListener(listener, config)
		} else {
			server.TLSConfig = config
		}
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// Answer makes the server refuse a recipient with a code, or, with code 0, take
// them again.
func (s *Server) Answer(recipient string, code int, enhanced [3]int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.answers, recipient)
	if code != 0 {
		s.answers[recipient] = &smtp.SMTPError{Code: code, EnhancedCode: enhanced, Message: text}
	}
}

// DropNext breaks the connection of the next n messages after their content,
// taking them all the same: the sender cannot know.
func (s *Server) DropNext(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop = n
}

// Mails returns what was taken, oldest first.
func (s *Server) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

// To returns what was taken for one recipient.
func (s *Server) To(recipient string) []Mail {
	return slices.DeleteFunc(s.Mails(), func(m Mail) bool { return !slices.Contains(m.To, recipient) })
}

type session struct {
	server *Server
	conn   *smtp.Conn
	open   bool
	mail   Mail
}

func (s *session) AuthMechanisms() []string {
	if s.server.options.Username == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		if username != s.server.options.Username || password != s.server.options.Password {
			return smtp.ErrAuthFailed
		}
		s.open = true
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if !s.open {
		return smtp.ErrAuthRequired
	}
	s.mail = Mail{From: from}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if answer := s.server.answers[to]; answer != nil {
		return answer
	}
	s.mail.To = append(s.mail.To, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("read a mail: %w", err)
	}
	s.mail.Data = string(data)
	s.server.mu.Lock()
	s.server.mails = append(s.server.mails, s.mail)
	drop := s.server.drop > 0
	if drop {
		s.server.drop--
	}
	s.server.mu.Unlock()
	if drop {
		_ = s.conn.Conn().Close()
		return errors.New("dropped")
	}
	return nil
}

func (s *session) Reset()        { s.mail = Mail{} }
func (s *session) Logout() error { return nil }
