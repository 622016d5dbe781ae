package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"muster/internal/cli/installation"
	"muster/internal/mail/mailtest"
	"muster/internal/postgres/cluster"
	"muster/internal/testing/pgtest"
)

// What nobody may read in a log or a trace. Each occurs nowhere else.
var planted = map[string]string{
	"the administrator's address":  "quokka.ana",
	"the administrator's name":     "Quokkasdottir",
	"the organization's name":      "Zebrafinch & Sons",
	"a host of addresses":          "zebrafinch.example",
	"a member's address":           "bo.numbat",
	"a member's name":              "Numbatsson",
	"a refused recipient":          "cy.wombat",
	"a deferred recipient":         "dee.dugong",
	"what a mail server says":      "Dugongs swim elsewhere",
	"the first password":           "first-pangolin-rolls-up",
	"the second password":          "second-pangolin-walks",
	"a member's password":          "third-pangolin-sleeps",
	"a guessed password":           "guessed-pangolin",
	"an unknown account":           "nobody.axolotl",
	"the mail server's account":    "mailer-ocelot",
	"the mail server's password":   "mail-ocelot-password",
	"the database role":            "kakapo_role",
	"the database role's password": "kakapo-password",
	"a wrong database password":    "kakapo-wrong",
	"a monitored database":         "kakapo_sales",
	"a monitored table":            "patients_of_kakapo",
	"a monitored column":           "diagnosis_of_kakapo",
	"a value of a monitored table": "kiwi@kakapo.example",
	"an instance's name":           "pg-tarsier",
	"a server's host name":         "tarsier-host",
	"a pushed database":            "tarsier_ledger",
	"a reason":                     "because of the capybara",
	"a query":                      "query-of-a-narwhal",
	"a path":                       "path-of-a-narwhal",
	"a header":                     "header-of-a-narwhal",
	"a user agent":                 "agent-of-a-narwhal",
	"a body that is no JSON":       "body-of-a-narwhal",
	"a caller's address":           "203.0.113.77",
	"a token that never was":       "mst_api_narwhal",
	"a token's name":               "token of a manatee",
	"the secret at the provider":   "secret-of-an-echidna",
	"a code of the provider":       "code-of-an-echidna",
	"an error of the provider":     "error-of-an-echidna",
	"what the provider says":       "There is no echidna here",
}

// life is everything that Muster does, once, with planted names and secrets.
type life struct {
	installed
	server  *running
	mails   *mailtest.Server
	watched *pgtest.Server
	env     []string
	secrets map[string]string // what only the running server knew: tokens, cookies, links
}

// newLife starts a server that says all it can.
func newLife(t *testing.T, env ...string) *life {
	t.Helper()
	l := &life{
		installed: installed{dir: dataDir(t)}, env: env, secrets: map[string]string{},
		mails: mailtest.Start(t, mailtest.Options{
			STARTTLS: true, Username: planted["the mail server's account"], Password: planted["the mail server's password"],
		}),
		watched: pgtest.Cluster(t, pgtest.Options{HBA: "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"}),
	}
	l.env = append(l.env, "MUSTER_OIDC_ISSUER="+grumpyProvider(t), "MUSTER_OIDC_CLIENT_ID=muster",
		"MUSTER_OIDC_CLIENT_SECRET_FILE="+fileWith(t, "client-secret", planted["the secret at the provider"]))
	l.env = append(l.env, "MUSTER_LOG_LEVEL=debug", "MUSTER_LOG_FORMAT=json", "MUSTER_RATE_LIMITS=off", "MUSTER_TRUSTED_PROXIES=127.0.0.1/32",
		"MUSTER_MAIL_FROM=Muster <muster@"+planted["a host of addresses"]+">",
		"MUSTER_SMTP_URL=smtp://"+planted["the mail server's account"]+":"+planted["the mail server's password"]+"@"+l.mails.Addr+
			"?starttls=required&ca="+fileWith(t, "ca.pem", string(l.mails.Certificate)))
	l.server = serving(t, l.env, l.flags()...)
	return l
}

// visitor is somebody with a browser, or a program with a token.
type visitor struct {
	base, cookie, token string
	header              map[string]string
}

// send makes a request and wants no answer in particular.
func (v visitor) send(t testing.TB, method, path, body string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, v.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", planted["a user agent"])
	request.Header.Set("X-Forwarded-For", planted["a caller's address"])
	if v.cookie != "" {
		request.Header.Set("Cookie", "__Host-muster_session="+v.cookie)
	}
	if v.token != "" {
		request.Header.Set("Authorization", "Bearer "+v.token)
	}
	for name, value := range v.header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{} // the server may be made to break
	}
	defer response.Body.Close()
	read, _ := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, header: response.Header, body: read}
}

// must makes a request that is answered with a status, and returns the answer.
func (v visitor) must(t testing.TB, want int, method, path string, body any) map[string]any {
	t.Helper()
	text := ""
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text = string(encoded)
	}
	got := v.send(t, method, path, text)
	if got.status != want {
		t.Fatalf("%s %s answers %d, want %d: %s", method, path, got.status, want, got.body)
	}
	into := map[string]any{"cookie": sessionCookie.FindString(got.header.Get("Set-Cookie"))}
	if len(bytes.TrimSpace(got.body)) > 0 && bytes.HasPrefix(got.body, []byte("{")) {
		if err := json.Unmarshal(got.body, &into); err != nil {
			t.Fatal(err)
		}
	}
	return into
}

var sessionCookie = regexp.MustCompile(`[A-Za-z0-9_-]{30,}`)

// secret keeps what was handed out, to be looked for.
func (l *life) secret(t testing.TB, what string, handed any) string {
	t.Helper()
	text, _ := handed.(string)
	if len(text) < 16 {
		t.Fatalf("%s is %v", what, handed)
	}
	l.secrets[what] = text
	return text
}

func at(name string) string { return planted[name] + "@" + planted["a host of addresses"] }

// setUp is the first run by the link, and how a password is lost and found.
func (l *life) setUp(t *testing.T) visitor {
	t.Helper()
	var link []string
	eventually(t, "the setup link is printed", func() bool {
		link = regexp.MustCompile(`/setup#(?:token=)?(\S+)`).FindStringSubmatch(l.server.said.String())
		return link != nil
	})
	l.secret(t, "the setup link", link[1])
	ana := visitor{base: l.server.base}
	form := map[string]any{
		"setupToken": link[1], "email": at("the administrator's address"), "name": planted["the administrator's name"],
		"password": planted["the first password"], "organizationName": planted["the organization's name"],
	}
	ana.cookie = l.secret(t, "the first session", ana.must(t, 201, "POST", "/api/v1/setup", form)["cookie"])
	ana.send(t, "POST", "/api/v1/setup", string(encoded(t, form)))
	nobody := visitor{base: l.server.base}
	for address, password := range map[string]string{
		at("the administrator's address"): planted["a guessed password"],
		at("an unknown account"):          planted["a guessed password"],
	} {
		nobody.must(t, 401, "POST", "/api/v1/session", map[string]any{"email": address, "password": password})
	}
	ana.must(t, 204, "POST", "/api/v1/password",
		map[string]any{"currentPassword": planted["the first password"], "newPassword": planted["the second password"]})
	in := nobody.must(t, 200, "POST", "/api/v1/session",
		map[string]any{"email": at("the administrator's address"), "password": planted["the second password"]})
	ana.cookie = l.secret(t, "a session", in["cookie"])
	return ana
}

func encoded(t testing.TB, body any) []byte {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// people invites three members: one joins, one is refused by the mail server and
// one is put off.
func (l *life) people(t *testing.T, ana visitor) (ids []string) {
	t.Helper()
	for _, who := range []string{"a member's address", "a refused recipient", "a deferred recipient"} {
		invited := ana.must(t, 201, "POST", "/api/v1/members", map[string]any{"email": at(who), "name": planted["a member's name"], "role": "member"})
		_, token, _ := strings.Cut(fmt.Sprint(invited["inviteUrl"]), "#")
		token = strings.TrimPrefix(token, "token=")
		l.secret(t, "the invitation of "+who, token)
		ids = append(ids, invited["member"].(map[string]any)["id"].(string))
		if who == "a member's address" {
			nobody := visitor{base: l.server.base}
			joined := nobody.must(t, 201, "POST", "/api/v1/invitations/"+token,
				map[string]any{"name": planted["a member's name"], "password": planted["a member's password"]})
			l.secret(t, "a member's session", joined["cookie"])
			nobody.send(t, "POST", "/api/v1/invitations/"+token, `{"name":"x","password":"`+planted["a member's password"]+`"}`)
		}
	}
	ana.must(t, 409, "POST", "/api/v1/members", map[string]any{"email": at("a member's address"), "name": "x", "role": "viewer"})
	l.mails.Answer(at("a refused recipient"), 550, [3]int{5, 1, 1}, `"`+planted["a refused recipient"]+`" at `+planted["a host of addresses"]+` is unknown`)
	l.mails.Answer(at("a deferred recipient"), 451, [3]int{4, 2, 2}, planted["what a mail server says"]+": <"+at("a deferred recipient")+">")
	return ids
}

// tokens mints them and uses them, for a feed among others.
func (l *life) tokens(t *testing.T, ana visitor) visitor {
	t.Helper()
	body := map[string]any{"name": planted["a token's name"], "scopes": []string{"admin"}}
	program := visitor{base: l.server.base}
	program.token = l.secret(t, "an API token", ana.must(t, 201, "POST", "/api/v1/api-tokens", body)["token"])
	feed := visitor{base: l.server.base}
	feed.token = l.secret(t, "an ingest token", ana.must(t, 201, "POST", "/api/v1/ingest-tokens", map[string]any{"name": planted["a token's name"]})["token"])
	feed.must(t, 200, "POST", "/ingest/v1/fleet", map[string]any{"instances": []map[string]any{{
		"externalId": planted["a server's host name"], "name": planted["a server's host name"], "engine": "postgresql",
		"host": planted["a server's host name"], "createdAt": "2026-01-01T00:00:00Z",
		"databases": []map[string]any{{"externalId": "1", "name": planted["a pushed database"], "createdAt": "2026-01-01T00:00:00Z"}},
	}}})
	feed.send(t, "POST", "/ingest/v1/fleet", `{"instances":[{"externalId":"`+planted["a body that is no JSON"])
	feed.send(t, "GET", "/api/v1/reports", "")
	return program
}

// watches registers a server whose values are classified, by a wrong password
// first, and takes its password away afterwards.
func (l *life) watches(t *testing.T, ana visitor) {
	t.Helper()
	database, role := planted["a monitored database"], planted["the database role"]
	super := pgtest.Connect(t, l.watched.Superuser())
	super.MustExec(`CREATE ROLE ` + role + ` LOGIN PASSWORD '` + planted["the database role's password"] + `' IN ROLE pg_monitor`)
	super.MustExec(`CREATE DATABASE ` + database + ` OWNER ` + role)
	sales := pgtest.Connect(t, l.watched.URL(pgtest.Superuser, database))
	sales.MustExec(`CREATE TABLE ` + planted["a monitored table"] + ` (email text, ` + planted["a monitored column"] + ` text)`)
	sales.MustExec(`INSERT INTO `+planted["a monitored table"]+` VALUES ($1, 'flu')`, planted["a value of a monitored table"])
	sales.MustExec(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ` + role)

	dsn := func(password string) string {
		return strings.Replace(l.watched.TCPURL(role, database), role+"@", role+":"+password+"@", 1)
	}
	body := map[string]any{"name": planted["an instance's name"], "engine": "postgresql", "classify": "values", "dsn": dsn(planted["a wrong database password"])}
	ana.must(t, 422, "POST", "/api/v1/instances", body)
	body["dsn"] = "postgres://" + role + ":" + planted["the database role's password"] + "@127.0.0.1:no-port/" + database
	ana.must(t, 400, "POST", "/api/v1/instances", body)
	body["dsn"] = dsn(planted["the database role's password"])
	id := ana.must(t, 201, "POST", "/api/v1/instances", body)["id"].(string)
	eventually(t, "the server is classified", func() bool {
		return ana.must(t, 200, "GET", "/api/v1/instances/"+id, nil)["lastClassifiedAt"] != nil
	})
	super.MustExec(`ALTER ROLE ` + role + ` PASSWORD 'another'`)
	ana.must(t, 202, "POST", "/api/v1/instances/"+id+"/assess", nil)
	eventually(t, "the server cannot be reached any more", func() bool {
		shown := ana.must(t, 200, "GET", "/api/v1/instances/"+id, nil)
		return shown["lastError"] != nil && shown["lastErrorAt"] != nil
	})
}

// reports asks for one in the caller's own trace, and has it mailed and downloaded.
func (l *life) reports(t *testing.T, ana visitor, recipients []string) uuid.UUID {
	t.Helper()
	ana.header = map[string]string{"Traceparent": "00-" + callersTrace + "-00f067aa0ba902b7-01", "Tracestate": "muster=test"}
	asked := ana.must(t, 202, "POST", "/api/v1/reports", map[string]any{"kind": "Security", "scope": map[string]any{}, "recipientIds": recipients})
	ana.header = nil
	id := asked["report"].(map[string]any)["id"].(string)
	eventually(t, "the report is ready", func() bool {
		return ana.must(t, 200, "GET", "/api/v1/reports/"+id, nil)["status"] == "Ready"
	})
	eventually(t, "the mails went where they go", func() bool {
		deferred := strings.Contains(l.server.logged.String(), "code 451")
		told := slices.ContainsFunc(l.mails.To(at("a member's address")), func(m mailtest.Mail) bool { // beside the invitation
			return strings.Contains(readMail(t, m.Data).text, "/exports?reportId=")
		})
		return told && deferred
	})
	ana.must(t, 200, "GET", "/api/v1/reports/"+id+"/download", nil)
	ana.send(t, "POST", "/api/v1/exceptions", `{"checkId":"PG-S01","reason":"`+planted["a reason"]+`","until":"2027-03-31T00:00:00Z"}`)
	return uuid.MustParse(id)
}

// nonsense sends what no client of ours would.
func (l *life) nonsense(t *testing.T, ana visitor) {
	t.Helper()
	q := "?token=" + planted["a query"]
	stranger := visitor{base: l.server.base, token: planted["a token that never was"], cookie: planted["a header"], header: map[string]string{
		"X-Request-Id": planted["a header"] + "!", "Traceparent": planted["a header"], "Referer": "http://" + planted["a header"], "Cookie": planted["a header"],
	}}
	for _, v := range []visitor{ana, stranger} {
		v.send(t, "GET", "/api/v1/reports"+q, "")
		v.send(t, "GET", "/api/v1/reports/"+planted["a path"]+q, "")
		v.send(t, "GET", "/"+planted["a path"]+q, "")
		v.send(t, "NARWHALMETHOD", "/api/v1/reports"+q, "")
		v.send(t, "POST", "/api/v1/session"+q, planted["a body that is no JSON"])
		v.send(t, "POST", "/api/v1/session", `{"email":"`+at("an unknown account")+`","`+planted["a body that is no JSON"]+`":1}`)
		v.send(t, "GET", "/auth/oidc/"+planted["a path"]+"/start"+q, "")
		v.send(t, "GET", "/auth/oidc/"+planted["a path"]+"/callback?code="+planted["a query"]+"&state="+planted["a query"], "")
		v.send(t, "GET", "/invitation"+q+"#"+planted["a path"], "")
		v.send(t, "GET", "/api/v1/reports?kind="+strings.Repeat(planted["a query"], 3000), "")
	}
}

// faults breaks the database under the server: first its schema, then all of it.
func (l *life) faults(t *testing.T, ana visitor) {
	t.Helper()
	change := func(statement string) {
		l.within(t, func(ctx context.Context, in *installation.Installation) error {
			_, err := in.DB.ExecContext(ctx, statement)
			return err
		})
	}
	signIn := `{"email":"` + at("the administrator's address") + `","password":"` + planted["the second password"] + `"}`
	change(`ALTER TABLE members RENAME COLUMN email TO address`)
	if got := ana.send(t, "POST", "/api/v1/session", signIn); got.status != http.StatusInternalServerError {
		t.Errorf("a broken schema is answered with %d", got.status)
	}
	change(`ALTER TABLE members RENAME COLUMN address TO email`)
	change(`ALTER TABLE sessions ADD CONSTRAINT nobody CHECK (false) NOT VALID`)
	if got := ana.send(t, "POST", "/api/v1/session", signIn); got.status != http.StatusInternalServerError {
		t.Errorf("a row that the schema refuses is answered with %d", got.status)
	}
	change(`ALTER TABLE sessions DROP CONSTRAINT nobody`)

	state, err := cluster.ReadState(filepath.Join(l.dir, "postgres", "data"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(state.PID, syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the database is back", func() bool {
		return ana.send(t, "POST", "/api/v1/session", signIn).status == http.StatusOK
	})
}
