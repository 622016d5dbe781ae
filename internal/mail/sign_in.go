package mail

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"github.com/wneessen/go-mail/smtp"
)

// mechanism is one way to sign in.
type mechanism struct {
	name string
	// auth is nil where the connection does not allow the mechanism.
	auth func(session *smtp.Client, c SMTPConfig) smtp.Auth
}

// mechanisms are in the order in which they are tried. PLAIN and LOGIN show the password
// to whoever reads along, so they need TLS or a server on this machine. NTLM is last:
// servers of other vendors offer it first and do not know the account there.
// XOAUTH2 is none of them: its tokens last for an hour, and nothing here could renew one.
var mechanisms = []mechanism{
	{"SCRAM-SHA-256-PLUS", bound(smtp.ScramSHA256PlusAuth)},
	{"SCRAM-SHA-256", anyLine(smtp.ScramSHA256Auth)},
	{"SCRAM-SHA-1-PLUS", bound(smtp.ScramSHA1PlusAuth)},
	{"SCRAM-SHA-1", anyLine(smtp.ScramSHA1Auth)},
	{"CRAM-MD5", anyLine(smtp.CRAMMD5Auth)},
	{"PLAIN", closedLine(func(c SMTPConfig) smtp.Auth { return smtp.PlainAuth("", c.Username, c.Password, c.Host, false) })},
	{"LOGIN", closedLine(func(c SMTPConfig) smtp.Auth { return smtp.LoginAuth(c.Username, c.Password, c.Host, false) })},
	{"NTLM", anyLine(func(user, password string) smtp.Auth { return smtp.NTLMAuth(user, password, "") })},
}

// anyLine is a mechanism that does not show the password.
func anyLine(auth func(user, password string) smtp.Auth) func(*smtp.Client, SMTPConfig) smtp.Auth {
	return func(_ *smtp.Client, c SMTPConfig) smtp.Auth { return auth(c.Username, c.Password) }
}

// bound is a mechanism that is bound to the TLS connection.
func bound(auth func(user, password string, state *tls.ConnectionState) smtp.Auth) func(*smtp.Client, SMTPConfig) smtp.Auth {
	return func(session *smtp.Client, c SMTPConfig) smtp.Auth {
		state, err := session.GetTLSConnectionState()
		if err != nil {
			return nil
		}
		return auth(c.Username, c.Password, state)
	}
}

// closedLine is a mechanism that shows the password.
func closedLine(auth func(SMTPConfig) smtp.Auth) func(*smtp.Client, SMTPConfig) smtp.Auth {
	return func(session *smtp.Client, c SMTPConfig) smtp.Auth {
		if _, err := session.GetTLSConnectionState(); err != nil && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, c.Host) {
			return nil
		}
		return auth(c)
	}
}

// signInError says that the server took none of the mechanisms.
type signInError struct {
	offered, tried []string
	plaintext      bool  // a mechanism that was offered needs TLS
	refused        error // the server's answer that says most; nil: nothing could be tried
}

func (e *signInError) Error() string {
	said := "sign-in: the server offers " + list(e.offered)
	if len(e.tried) > 0 {
		said += ", Muster tried " + list(e.tried)
	}
	if e.plaintext {
		said += "; PLAIN and LOGIN are not used without TLS"
	}
	return said
}

func (e *signInError) Unwrap() error { return e.refused }

func list(names []string) string {
	if len(names) == 0 {
		return "no mechanism"
	}
	return strings.Join(names, ", ")
}

// signIn tries the mechanisms that the server offers, except those that failed says were
// tried, and adds to these. Errors: failed itself where the server takes none; another
// one where the session broke, and a new session may try the rest.
func (s *SMTP) signIn(session *smtp.Client, failed *signInError) error {
	failed.offered = s.offered(session)
	failed.plaintext = false
	first := true
	for _, m := range s.inOrder() {
		if !slices.Contains(failed.offered, m.name) || slices.Contains(failed.tried, m.name) {
			continue
		}
		auth := m.auth(session, s.config)
		if auth == nil {
			failed.plaintext = true
			continue
		}
		err := exchange(session, auth, s.config)
		if err == nil {
			s.took.Store(&m.name)
			return nil
		}
		if !answered(err) && !first {
			return err // the server hung up after the refusal before: this one was not judged
		}
		first = false
		failed.tried = append(failed.tried, m.name)
		failed.note(err)
		if !answered(err) || codeOf(err) == closing {
			return err
		}
	}
	return failed
}

// note keeps the answer that says most: that the server knows neither name nor password
// says more than that it does not know a mechanism.
func (e *signInError) note(err error) {
	const badCredentials = 535
	if codeOf(err) != 0 && (e.refused == nil || codeOf(e.refused) != badCredentials) {
		e.refused = err
	}
}

// inOrder has the mechanism first that was taken last: each refusal counts towards the
// lock of an account.
func (s *SMTP) inOrder() []mechanism {
	order := slices.Clone(mechanisms)
	if took := s.took.Load(); took != nil {
		slices.SortStableFunc(order, func(a, b mechanism) int {
			switch *took {
			case a.name:
				return -1
			case b.name:
				return 1
			}
			return 0
		})
	}
	return order
}

// closing is the code of a server that ends the session.
const closing = 421

// answered says whether the session goes on after an error.
func answered(err error) bool {
	var answer *textproto.Error
	var ours *abortedError
	return errors.As(err, &answer) || errors.As(err, &ours)
}

// abortedError is an exchange that this side ended: the server asked for something that
// the mechanism does not have.
type abortedError struct{ err error }

func (e *abortedError) Error() string { return e.err.Error() }
func (e *abortedError) Unwrap() error { return e.err }

// exchange is one attempt. The one of go-mail ends the session where it fails.
func exchange(session *smtp.Client, auth smtp.Auth, c SMTPConfig) error {
	_, encrypted := session.TLSConnectionState()
	name, response, err := auth.Start(&smtp.ServerInfo{Name: c.Host, TLS: encrypted})
	if err != nil {
		return &abortedError{err}
	}
	code, text, err := command(session, strings.TrimSpace("AUTH "+name+" "+base64.StdEncoding.EncodeToString(response)))
	const goOn, done = 334, 235
	for err == nil && code == goOn {
		var challenge []byte
		if challenge, err = base64.StdEncoding.DecodeString(text); err == nil {
			response, err = auth.Next(challenge, true)
		}
		if err != nil {
			if _, _, broken := command(session, "*"); broken != nil {
				return broken
			}
			return &abortedError{err}
		}
		code, text, err = command(session, base64.StdEncoding.EncodeToString(response))
	}
	if err == nil && code != done {
		err = &textproto.Error{Code: code} // its text names people
	}
	return err
}

// command says a line and returns the answer, whatever its code.
func command(session *smtp.Client, line string) (code int, text string, err error) {
	id, err := session.Text.Cmd("%s", line)
	if err != nil {
		return 0, "", fmt.Errorf("sign in: %w", err)
	}
	session.Text.StartResponse(id)
	defer session.Text.EndResponse(id)
	return session.Text.ReadResponse(0)
}

// mechanismName is a name as the standard has it; anything else that a server says stays
// out of our words.
var mechanismName = regexp.MustCompile(`^[A-Z0-9_-]{1,20}$`)

// offered are the mechanisms that the server offers, by AUTH or by the older AUTH=.
func (s *SMTP) offered(session *smtp.Client) []string {
	_, listed := session.Extension("AUTH")
	if listed == "" { // go-mail reads the words in capitals, each followed by a space
		code, text, err := command(session, "EHLO "+s.config.Hello)
		if err != nil || code/100 != 2 {
			return nil
		}
		for line := range strings.SplitSeq(strings.ToUpper(text), "\n") {
			if names, ok := strings.CutPrefix(line, "AUTH"); ok && strings.IndexAny(names, " =") == 0 {
				listed += " " + names[1:]
			}
		}
	}
	var names []string
	for _, name := range strings.Fields(strings.ToUpper(listed)) {
		if mechanismName.MatchString(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
