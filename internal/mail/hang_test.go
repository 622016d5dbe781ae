package mail_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	gomail "github.com/wneessen/go-mail"

	"muster/internal/mail"
	"muster/internal/mail/mailtest"
)

// script runs a mail server that says these lines, one for each of the client's, the
// first unasked, and is silent then. A line "…" is one that trickles without end.
func script(t *testing.T, lines ...string) string {
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
			go func() {
				defer func() { _ = conn.Close() }()
				heard := bufio.NewReader(conn)
				for _, line := range lines {
					for line == "…" {
						if _, err := fmt.Fprint(conn, "250-and\r\n"); err != nil {
							return
						}
						time.Sleep(20 * time.Millisecond) // its pace, faster than any deadline
					}
					_, _ = fmt.Fprint(conn, line+"\r\n")
					if _, err := heard.ReadString('\n'); err != nil {
						return
					}
				}
				_, _ = io.Copy(io.Discard, heard) // says nothing until the other end goes
			}()
		}
	}()
	return listener.Addr().String()
}

// TestAMailServerThatHangs at any stage holds a mail up for as long as a mail may take
// and no longer, however it spreads its silence.
func TestAMailServerThatHangs(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second
	for name, c := range map[string]struct {
		lines []string
		stage mail.DeliveryStage
	}{
		"says nothing":           {nil, mail.Opening},
		"greets":                 {[]string{"220 hello"}, mail.Opening},
		"trickles":               {[]string{"220 hello", "…"}, mail.Opening},
		"stops at the sender":    {[]string{"220 hello", "250 go on"}, mail.Sender},
		"stops at the recipient": {[]string{"220 hello", "250 go on", "250 ok"}, mail.Recipient},
		"stops at the content":   {[]string{"220 hello", "250 go on", "250 ok", "250 ok", "354 send"}, mail.Content},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := mail.ParseSMTPURL("smtp://" + script(t, c.lines...))
			if err != nil {
				t.Fatal(err)
			}
			transport, err := mail.NewSMTP(config)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err = transport.Within(timeout).Send(t.Context(), compose(t, notice(), ana))
			var failed *mail.DeliveryError
			if !errors.As(err, &failed) || !failed.Temporary || failed.Stage != c.stage {
				t.Errorf("error %v", err)
			}
			if took := time.Since(began); took < timeout/2 || took > 2*timeout+5*time.Second { // the machine may be busy; deadlines that add up take longer still
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestOnlyUnansweredMailsMayHaveArrived though sending them failed: those whose content was sent completely.
func TestOnlyUnansweredMailsMayHaveArrived(t *testing.T) {
	t.Parallel()
	drops := mailtest.Start(t, mailtest.Options{})
	drops.DropNext(1)
	untilData := []string{"220 hello", "250 go on", "250 ok", "250 ok"}
	for name, c := range map[string]struct {
		address string
		arrived bool
	}{
		"nothing listens":               {"127.0.0.1:1", false},
		"says nothing":                  {script(t), false},
		"stops at the greeting":         {script(t, untilData[:1]...), false},
		"stops at the sender":           {script(t, untilData[:2]...), false},
		"refuses the sender":            {script(t, "220 hello", "250 go on", "550 no", "250 reset"), false},
		"stops at the recipient":        {script(t, untilData[:3]...), false},
		"defers the recipient":          {script(t, "220 hello", "250 go on", "250 ok", "451 later", "250 reset"), false},
		"stops before the content":      {script(t, untilData...), false},
		"refuses before the content":    {script(t, append(untilData, "451 later")...), false},
		"refuses the content":           {script(t, append(untilData, "354 send", "554 no")...), false},
		"defers the content":            {script(t, append(untilData, "354 send", "421 later")...), false},
		"stops behind the content":      {script(t, append(untilData, "354 send")...), true},
		"hangs up behind the content":   {drops.Addr, true},
		"answers behind it in no terms": {script(t, append(untilData, "354 send", "what?")...), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := mail.ParseSMTPURL("smtp://" + c.address)
			if err != nil {
				t.Fatal(err)
			}
			transport, err := mail.NewSMTP(config)
			if err != nil {
				t.Fatal(err)
			}
			_, err = transport.Within(time.Second).Send(t.Context(), compose(t, notice(), ana))
			var failed *mail.DeliveryError
			if !errors.As(err, &failed) || failed.Unanswered != c.arrived {
				t.Errorf("unanswered %v, want %v: %v", failed.Unanswered, c.arrived, err)
			}
		})
	}
	if failed := mail.Refusal(&gomail.SendError{Reason: gomail.ErrWriteContent}); failed.Unanswered || failed.Stage != mail.Content {
		t.Errorf("of the content a part was written: %+v", failed)
	}
}

// TestAMailTakesNoLongerThanItsCaller has: a request that waits for it is answered in its time.
func TestAMailTakesNoLongerThanItsCaller(t *testing.T) {
	t.Parallel()
	config, err := mail.ParseSMTPURL("smtp://" + script(t, "220 hello", "250 go on", "250 ok", "250 ok", "354 send"))
	if err != nil {
		t.Fatal(err)
	}
	transport, err := mail.NewSMTP(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	began := time.Now()
	_, err = transport.Within(20*time.Second).Send(ctx, compose(t, notice(), ana))
	var failed *mail.DeliveryError
	if !errors.As(err, &failed) || failed.Stage != mail.Content {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestCheckSendsNothing(t *testing.T) {
	t.Parallel()
	check := func(within time.Duration, address string) error {
		t.Helper()
		config, err := mail.ParseSMTPURL(address)
		if err != nil {
			t.Fatal(err)
		}
		transport, err := mail.NewSMTP(config)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		return transport.Check(ctx)
	}
	server := mailtest.Start(t, mailtest.Options{Username: "u", Password: "p"})
	if err := check(time.Minute, "smtp://u:p@"+server.Addr); err != nil {
		t.Error(err)
	}
	if err := check(time.Minute, "smtp://u:wrong@"+server.Addr); err == nil || !strings.Contains(err.Error(), "sign-in, code 535") {
		t.Errorf("a server that refuses the password: %v", err)
	}
	secure := mailtest.Start(t, mailtest.Options{ImplicitTLS: true})
	if err := transport(t, secure, "smtps://ADDR").Check(t.Context()); err != nil {
		t.Error(err)
	}
	if n := len(server.Mails()) + len(secure.Mails()); n != 0 {
		t.Errorf("%d mails were sent", n)
	}
	if err := check(300*time.Millisecond, "smtp://"+script(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server that says nothing: %v", err)
	}
	if err := check(time.Minute, "smtp://"+script(t, "554 not today, ana@example.org")); err == nil || strings.Contains(err.Error(), "@") {
		t.Errorf("a server that turns us away: %v", err)
	}
	if err := check(time.Minute, "smtp://127.0.0.1:1"); err == nil {
		t.Error("nobody listens, and the check passes")
	}
	dir := t.TempDir() + "/outbox"
	outbox, err := mail.NewOutbox(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := outbox.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("the check left %v, %v", left, err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := outbox.Check(t.Context()); err == nil {
		t.Error("there is no directory, and the check passes")
	}
}
