package notify_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/notifying"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/intake"
	"muster/internal/intake/alertmanager"
	"muster/internal/mail"
	amchannel "muster/internal/notify/channel/alertmanager"
)

// program is one of a machine's that a test runs. Where it is not there the test is skipped,
// or, with MUSTER_TEST_RECEIVERS=required, fails.
func program(t *testing.T, howToGet string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	lacks(t, "MUSTER_TEST_RECEIVERS", names[0]+" is not installed ("+howToGet+")")
	return ""
}

// lacks skips a test, or fails it where a setting says that what it needs is there.
func lacks(t *testing.T, setting, what string) {
	t.Helper()
	if os.Getenv(setting) != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// judge is Standard Webhooks' own library for JavaScript: it verifies what it reads, post by post,
// as whsec_…, headers and body in JSON.
const judge = `
import { Webhook } from "standardwebhooks";
let text = "";
for await (const part of process.stdin) text += part;
for (const { secret, headers, body } of JSON.parse(text)) {
  try { new Webhook(secret).verify(body, headers); console.log("good"); } catch (e) { console.log(e.message); }
}`

// TestSignaturesAreStandardWebhooks, as their own library judges, which also refuses what was
// changed. `make test` installs it and sets MUSTER_TEST_NPM, which makes a failure of its absence.
func TestSignaturesAreStandardWebhooks(t *testing.T) {
	t.Parallel()
	const home = "testdata/standard-webhooks"
	if _, err := os.Stat(home + "/node_modules/standardwebhooks"); err != nil {
		lacks(t, "MUSTER_TEST_NPM", "needs npm ci in internal/notify/"+home)
	}
	node := program(t, "Debian: apt-get install nodejs", "node")
	s := newScene(t)
	s.clock.Advance(time.Since(s.clock.Now())) // the judge goes by the machine's clock
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.process("a", s.sender)
	s.fires(alert.Critical, "Läg <&> \"quoted\"")
	s.follow()
	s.await("it is sent", func() bool { return len(r.got()) == 1 })
	p := r.got()[0]
	headers := map[string]string{}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		headers[name] = p.Header.Get(name)
	}
	type judged struct {
		Secret  string            `json:"secret"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	asked, err := json.Marshal([]judged{
		{secret, headers, string(p.Body)},
		{secret, headers, strings.Replace(string(p.Body), "critical", "info", 1)},
		{"whsec_" + strings.Repeat("A", 32), headers, string(p.Body)},
	})
	must(t, err)
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", judge)
	cmd.Dir, cmd.Stdin = home, bytes.NewReader(asked)
	said, err := cmd.CombinedOutput()
	if err != nil || string(said) != "good\nNo matching signature found\nNo matching signature found\n" {
		t.Errorf("%v: %s", err, said)
	}
}

// TestAnAlertmanagerIsKeptFed with what is open until it is over; what it routes back to us is
// left out at the door, so that nothing multiplies.
func TestAnAlertmanagerIsKeptFed(t *testing.T) {
	t.Parallel()
	binary := program(t, "Debian: apt-get install --no-install-recommends prometheus-alertmanager", "prometheus-alertmanager")
	s := newScene(t)
	s.clock.Advance(time.Since(s.clock.Now())) // it goes by the machine's clock
	var mu sync.Mutex
	status := map[string]string{} // by our alerts' ids
	back := 0
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(request.Body)
		var posted struct {
			Alerts []struct {
				Status string            `json:"status"`
				Labels map[string]string `json:"labels"`
			} `json:"alerts"`
		}
		_ = json.Unmarshal(body.Bytes(), &posted)
		message, err := alertmanager.DecodeWebhook(body.Bytes(), time.Now())
		mu.Lock()
		defer mu.Unlock()
		for _, a := range posted.Alerts {
			status[a.Labels["alertname"]+" "+a.Labels["severity"]+" "+a.Labels["instance"]] = a.Status
		}
		if err != nil || len(message.Next(100)) > 0 || message.Dropped[intake.OurOwn] != len(posted.Alerts) {
			back++
		}
	}))
	t.Cleanup(hook.Close)
	at := startAlertmanager(t, binary, hook.URL)
	channel := s.channel(notifying.CreateChannel{Name: "AM", Kind: amchannel.Name, Address: notification.Address{URL: at + "/"}})
	s.fires(alert.Warning, "from before") // before there was a rule
	s.follow()
	s.clock.Advance(time.Millisecond)
	s.rule(channel, func(t *notification.Terms) { t.Match.Events = []notification.EventType{notification.AlertRaised} })
	s.process("a", s.sender)
	routed := func(alertname, want string) func() bool {
		return func() bool { mu.Lock(); defer mu.Unlock(); return status[alertname+" prod-orders"] == want }
	}
	s.fires(alert.Critical, "lag")
	s.follow()
	s.await("lag is routed", routed("lag critical", "firing"))
	must(t, s.sender.Feed(t.Context()))
	s.await("what was open is routed", routed("from before warning", "firing"))
	s.clock.Advance(time.Millisecond)
	s.ends("lag")
	s.follow()
	s.await("its end is routed", routed("lag critical", "resolved"))
	if tested, err := s.sender.Test(t.Context(), s.org, channel); err != nil || !tested.OK || tested.Code != 200 {
		t.Errorf("a test: %+v, %v", tested, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if back > 0 || status["from before warning prod-orders"] != "firing" {
		t.Errorf("%d messages would come in again; %v", back, status)
	}
}

// startAlertmanager runs one until the test ends, and returns its address.
func startAlertmanager(t *testing.T, binary, hook string) string {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "alertmanager.yml")
	must(t, os.WriteFile(config, []byte(fmt.Sprintf(`
route: {receiver: muster, group_by: [alertname], group_wait: 50ms, group_interval: 100ms, repeat_interval: 1h}
receivers: [{name: muster, webhook_configs: [{url: %q}]}]
`, hook)), 0o600))
	cmd := exec.CommandContext(t.Context(), binary, "--config.file="+config, "--storage.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:0", "--cluster.listen-address=")
	said, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	listens := regexp.MustCompile(`msg="Listening on" address=(\S+)`)
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if found := listens.FindStringSubmatch(lines.Text()); found != nil {
			go func() {
				for lines.Scan() { // so that it is not held up
				}
			}()
			return "http://" + found[1]
		}
	}
	t.Fatal("Alertmanager does not listen")
	return ""
}

// aiosmtpd prints each mail that it takes as a line of JSON. It wants a name with a dot, and
// offers NTLM first, which it refuses, as relays of the field do. C6, C7.
const aiosmtpd = `
import asyncio, json, sys
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
class Handler:
    async def handle_EHLO(self, server, session, envelope, hostname, responses):
        if "." not in hostname:
            return ["504 5.5.2 Helo command rejected: need fully-qualified hostname"]
        session.host_name = hostname
        return responses
    async def auth_NTLM(self, server, args):
        return AuthResult(success=False, handled=False)
    async def handle_DATA(self, server, session, envelope):
        print(json.dumps({"to": envelope.rcpt_tos, "text": envelope.content.decode()}), flush=True)
        return "250 taken"
def known(server, session, envelope, mechanism, login):
    return AuthResult(success=mechanism == "LOGIN" and login.login == b"u" and login.password == b"p")
c = Controller(Handler(), hostname="127.0.0.1", port=int(sys.argv[1]), auth_require_tls=False, auth_required=True,
               auth_exclude_mechanism=["PLAIN"], authenticator=known)
c.start()
print("{}", flush=True)
sys.stdin.read()
`

// TestAThirdPartyMailServerAcceptsOurMails completely.
func TestAThirdPartyMailServerAcceptsOurMails(t *testing.T) {
	t.Parallel()
	python := program(t, "Debian: apt-get install python3", "/usr/bin/python3", "python3") // Debian's own has Debian's packages
	if err := exec.CommandContext(t.Context(), python, "-c", "import aiosmtpd").Run(); err != nil {
		lacks(t, "MUSTER_TEST_RECEIVERS", "aiosmtpd is not installed (Debian: apt-get install python3-aiosmtpd)")
	}
	s := newScene(t)
	free := httptest.NewServer(nil)
	port := free.Listener.Addr().String()[strings.LastIndex(free.Listener.Addr().String(), ":")+1:]
	free.Close()
	cmd := exec.CommandContext(t.Context(), python, "-c", aiosmtpd, port)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		t.Fatal("aiosmtpd does not start")
	}
	c, err := mail.ParseSMTPURL("smtp://u:p@127.0.0.1:" + port + "?starttls=off")
	must(t, err)
	c.Hello = "muster.example.org"
	s.sender.Transport, err = mail.NewSMTP(c)
	must(t, err)
	s.rule(s.channel(notifying.CreateChannel{Name: "Ana", Kind: notification.Email, MemberIDs: []uuid.UUID{s.ana.ID}}))
	s.process("a", s.sender)
	s.fires(alert.Critical, "Läg <&> ${Because}")
	s.follow()
	if !lines.Scan() {
		t.Fatal("no mail came")
	}
	var got struct {
		To   []string `json:"to"`
		Text string   `json:"text"`
	}
	must(t, json.Unmarshal(lines.Bytes(), &got))
	if len(got.To) != 1 || got.To[0] != "ana@acme.example" || !strings.Contains(got.Text, "Content-Type: multipart/alternative") || !strings.Contains(got.Text, "${Because}") {
		t.Errorf("to %v: %s", got.To, got.Text)
	}
	s.wantStory("sent raised:Läg <&> ${Because}")
}
