package mail_test

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/internal/mail"
	"muster/internal/mail/mailtest"
)

// picky is a mail server that offers some mechanisms and takes few of them.
type picky struct {
	extensions []string          // what EHLO is answered with
	answers    map[string]string // to AUTH, by mechanism; a mechanism that is not here is taken
	hello      func(name string) bool
	hangUp     bool // after a refusal

	mu    sync.Mutex
	heard []string // EHLO and AUTH
}

func (p *picky) start(t *testing.T) (address string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return listener.Addr().String()
}

func (p *picky) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	lines := bufio.NewScanner(conn)
	say := func(line string) { _, _ = fmt.Fprint(conn, line+"\r\n") }
	ask := func(challenge string) {
		say("334 " + base64.StdEncoding.EncodeToString([]byte(challenge)))
		lines.Scan()
	}
	say("220 there")
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "EHLO", "HELO":
			p.note(verb + " " + rest)
			if p.hello != nil && !p.hello(rest) {
				say("504 5.5.2 <" + rest + ">: Helo command rejected: need fully-qualified hostname")
				continue
			}
			for _, e := range append([]string{"there"}, p.extensions...) {
				say("250-" + e)
			}
			say("250 8BITMIME")
		case "AUTH":
			name, _, _ := strings.Cut(rest, " ")
			p.note("AUTH " + name)
			if answer, refused := p.answers[name]; refused {
				say(answer)
				if p.hangUp {
					return
				}
				continue
			}
			switch name {
			case "LOGIN":
				ask("Username:")
				ask("Password:")
			case "CRAM-MD5":
				ask("<1896.697170952@there>")
			}
			say("235 2.7.0 welcome")
		case "DATA":
			say("354 go on")
			for lines.Scan() && lines.Text() != "." {
			}
			say("250 2.0.0 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (p *picky) note(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, line)
}

// signIns are the mechanisms that were tried.
func (p *picky) signIns() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var tried []string
	for _, line := range p.heard {
		if name, ok := strings.CutPrefix(line, "AUTH "); ok {
			tried = append(tried, name)
		}
	}
	return tried
}

func smtpTo(t *testing.T, address, hello string) *mail.SMTP {
	t.Helper()
	config, err := mail.ParseSMTPURL(address)
	if err != nil {
		t.Fatal(err)
	}
	config.Hello = hello
	transport, err := mail.NewSMTP(config)
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

// TestSignInTriesTheNextMechanism that a server offers when it refuses one. C7.
func TestSignInTriesTheNextMechanism(t *testing.T) {
	t.Parallel()
	const refused = "535 5.7.8 Authentication credentials invalid"
	for name, tc := range map[string]struct {
		server *picky
		tried  []string
		code   int // 0: the mail goes out
	}{
		"NTLM first, LOGIN taken":         {server: &picky{extensions: []string{"AUTH NTLM LOGIN"}, answers: map[string]string{"NTLM": refused}}, tried: []string{"LOGIN"}},
		"NTLM alone":                      {server: &picky{extensions: []string{"AUTH NTLM"}, answers: map[string]string{"NTLM": refused}}, tried: []string{"NTLM"}, code: 535},
		"names that nobody knows":         {server: &picky{extensions: []string{"AUTH GSSAPI XOAUTH2 OAUTHBEARER EXTERNAL LOGIN"}}, tried: []string{"LOGIN"}},
		"PLAIN is refused (504)":          {server: &picky{extensions: []string{"AUTH PLAIN LOGIN"}, answers: map[string]string{"PLAIN": "504 5.5.4 unrecognized"}}, tried: []string{"PLAIN", "LOGIN"}},
		"CRAM-MD5 is too weak (534)":      {server: &picky{extensions: []string{"AUTH PLAIN CRAM-MD5"}, answers: map[string]string{"CRAM-MD5": "534 5.7.9 too weak"}}, tried: []string{"CRAM-MD5", "PLAIN"}},
		"CRAM-MD5 has no secret (535)":    {server: &picky{extensions: []string{"AUTH CRAM-MD5 LOGIN"}, answers: map[string]string{"CRAM-MD5": refused}}, tried: []string{"CRAM-MD5", "LOGIN"}},
		"SCRAM fails for now (454)":       {server: &picky{extensions: []string{"AUTH SCRAM-SHA-256 PLAIN"}, answers: map[string]string{"SCRAM-SHA-256": "454 4.7.0 not now"}}, tried: []string{"SCRAM-SHA-256", "PLAIN"}},
		"SCRAM asks for nonsense":         {server: &picky{extensions: []string{"AUTH SCRAM-SHA-256 PLAIN"}, answers: map[string]string{"SCRAM-SHA-256": "334 !"}}, tried: []string{"SCRAM-SHA-256", "PLAIN"}},
		"PLUS needs TLS":                  {server: &picky{extensions: []string{"AUTH SCRAM-SHA-256-PLUS SCRAM-SHA-1-PLUS PLAIN"}}, tried: []string{"PLAIN"}},
		"it hangs up after a refusal":     {server: &picky{extensions: []string{"AUTH CRAM-MD5 PLAIN LOGIN"}, answers: map[string]string{"CRAM-MD5": refused, "PLAIN": "421 4.7.0 too many"}, hangUp: true}, tried: []string{"CRAM-MD5", "PLAIN", "LOGIN"}},
		"it hangs up, and takes none":     {server: &picky{extensions: []string{"AUTH CRAM-MD5 PLAIN"}, answers: map[string]string{"CRAM-MD5": refused, "PLAIN": refused}, hangUp: true}, tried: []string{"CRAM-MD5", "PLAIN"}, code: 535},
		"the old spelling":                {server: &picky{extensions: []string{"AUTH=LOGIN"}}, tried: []string{"LOGIN"}},
		"the old spelling, several":       {server: &picky{extensions: []string{"AUTH=NTLM LOGIN PLAIN"}}, tried: []string{"PLAIN"}},
		"both spellings":                  {server: &picky{extensions: []string{"AUTH LOGIN", "AUTH=LOGIN"}}, tried: []string{"LOGIN"}},
		"small letters":                   {server: &picky{extensions: []string{"auth login"}}, tried: []string{"LOGIN"}},
		"two spaces":                      {server: &picky{extensions: []string{"AUTH  NTLM  LOGIN "}}, tried: []string{"LOGIN"}},
		"the wrong password is what ails": {server: &picky{extensions: []string{"AUTH CRAM-MD5 LOGIN"}, answers: map[string]string{"CRAM-MD5": refused, "LOGIN": "504 5.5.4 unrecognized"}}, tried: []string{"CRAM-MD5", "LOGIN"}, code: 535},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tc.server
			receipt, err := smtpTo(t, "smtp://u:p@"+s.start(t), "").Send(t.Context(), compose(t, notice(), ana))
			if tried := s.signIns(); !slices.Equal(tried, tc.tried) {
				t.Errorf("tried %q, want %q", tried, tc.tried)
			}
			var failed *mail.DeliveryError
			switch {
			case tc.code == 0 && (err != nil || receipt.Code != 250):
				t.Errorf("receipt %+v, error %v", receipt, err)
			case tc.code != 0 && (!errors.As(err, &failed) || failed.Stage != mail.SigningIn || failed.Code != tc.code || !failed.Temporary):
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestAnImpossibleSignIn says what the server offers, in the log and in a sentence. C7.
func TestAnImpossibleSignIn(t *testing.T) {
	t.Parallel()
	s := &picky{extensions: []string{"AUTH GSSAPI XOAUTH2 eve@example.org"}}
	_, err := smtpTo(t, "smtp://u:p@"+s.start(t), "").Send(t.Context(), compose(t, notice(), ana))
	var failed *mail.DeliveryError
	if !errors.As(err, &failed) || !failed.Temporary || failed.Reason() != "Muster could not sign in at the mail server." ||
		failed.Text != "sign-in: the server offers GSSAPI, XOAUTH2" {
		t.Errorf("%v, %+v", err, failed)
	}
}

// TestThePasswordIsNotShownOnAnOpenLine to a server elsewhere, whatever it offers. C7.
func TestThePasswordIsNotShownOnAnOpenLine(t *testing.T) {
	t.Parallel()
	s := &picky{extensions: []string{"AUTH PLAIN LOGIN", "AUTH=PLAIN LOGIN"}}
	_, port, err := net.SplitHostPort(s.start(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = smtpTo(t, "smtp://u:p@[::ffff:127.0.0.1]:"+port, "").Send(t.Context(), compose(t, notice(), ana))
	var failed *mail.DeliveryError
	if !errors.As(err, &failed) || failed.Stage != mail.SigningIn || !strings.Contains(failed.Text, "PLAIN and LOGIN are not used without TLS") {
		t.Errorf("error %v", err)
	}
	if tried := s.signIns(); len(tried) != 0 {
		t.Errorf("tried %q", tried)
	}
}

// TestTheMechanismThatWasTakenComesFirst in the next session. C7.
func TestTheMechanismThatWasTakenComesFirst(t *testing.T) {
	t.Parallel()
	s := &picky{extensions: []string{"AUTH CRAM-MD5 PLAIN LOGIN"}, answers: map[string]string{"CRAM-MD5": "535 5.7.8 no", "PLAIN": "535 5.7.8 no"}}
	transport := smtpTo(t, "smtp://u:p@"+s.start(t), "")
	for range 2 {
		if _, err := transport.Send(t.Context(), compose(t, notice(), ana)); err != nil {
			t.Fatal(err)
		}
	}
	if tried := s.signIns(); !slices.Equal(tried, []string{"CRAM-MD5", "PLAIN", "LOGIN", "LOGIN"}) {
		t.Errorf("tried %q", tried)
	}
}

// TestTheNameInEHLO is the one that is set, in a mail and in a check. C6.
func TestTheNameInEHLO(t *testing.T) {
	t.Parallel()
	for hello, taken := range map[string]bool{"muster.example.org": true, "[192.0.2.1]": true, "vm": false} {
		s := &picky{hello: func(name string) bool { return strings.Contains(name, ".") }}
		transport := smtpTo(t, "smtp://"+s.start(t), hello)
		_, err := transport.Send(t.Context(), compose(t, notice(), ana))
		checked := transport.Check(t.Context())
		if (err == nil) != taken || (checked == nil) != taken {
			t.Errorf("%s: sent %v, checked %v", hello, err, checked)
		}
		if !slices.Contains(s.heard, "EHLO "+hello) {
			t.Errorf("%s: heard %q", hello, s.heard)
		}
	}
}

// TestCheckSignsInNowAndThen: what a sign-in came to holds for five minutes, so that no
// probe locks an account. C6, C7.
func TestCheckSignsInNowAndThen(t *testing.T) {
	t.Parallel()
	s := &picky{extensions: []string{"AUTH PLAIN"}, answers: map[string]string{"PLAIN": "535 5.7.8 no"}}
	transport := smtpTo(t, "smtp://u:p@"+s.start(t), "")
	for range 3 {
		if err := transport.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "535") {
			t.Errorf("error %v", err)
		}
	}
	if tried := s.signIns(); len(tried) != 1 {
		t.Errorf("tried %q", tried)
	}
	s.mu.Lock()
	delete(s.answers, "PLAIN")
	s.mu.Unlock()
	if _, err := transport.Send(t.Context(), compose(t, notice(), ana)); err != nil {
		t.Error(err)
	}
	if err := transport.Check(t.Context()); err != nil {
		t.Errorf("after a mail that was taken: %v", err)
	}
}

// TestSignInOverTLS uses SCRAM that is bound to the connection where a server has it, and
// PLAIN where it is all there is. C7.
func TestSignInOverTLS(t *testing.T) {
	t.Parallel()
	for _, options := range []mailtest.Options{{STARTTLS: true}, {ImplicitTLS: true}} {
		options.Username, options.Password = "u", "p"
		s := mailtest.Start(t, options)
		scheme := "smtp"
		if options.ImplicitTLS {
			scheme = "smtps"
		}
		transport := transport(t, s, scheme+"://u:p@ADDR")
		if err := transport.Check(t.Context()); err != nil {
			t.Error(err)
		}
		if len(s.Mails()) != 0 {
			t.Error("a check sent a mail")
		}
	}
}
