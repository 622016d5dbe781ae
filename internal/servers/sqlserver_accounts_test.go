package servers_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/servers"
	"muster/internal/servers/tdstest"
)

// TestF3AccountsOfWindows sign in by NTLMv2 with the password of the connection string. A server that wants an older
// kind gets no answer, for a password can be guessed from it.
func TestF3AccountsOfWindows(t *testing.T) {
	t.Parallel()
	trusted, config := authority(t, "db01.example")
	reach := &servers.Reach{Authorities: trusted}
	windows := tdstest.Options{User: `CORP\wätcher`, Password: "s3cr?t#/ä", TLS: config, Databases: []string{"app"}}
	stub := tdstest.Start(t, windows)
	stub.Answer("-- who", tdstest.Answer{Rows: [][]any{{"me"}}})
	s, err := openSQLServer(t, reach, stub, "", "app")
	if err != nil {
		t.Fatal(err)
	}
	if row, err := servers.Row(t.Context(), s, 1, "-- who\n"); err != nil || row[0] != "me" {
		t.Errorf("%q, %v", row, err)
	}
	if login := stub.Logins()[0]; login.Host != "" || login.Application != servers.ApplicationName || stub.Readable(stub.Password) != 0 {
		t.Errorf("%+v", login)
	}
	old := windows
	old.OldNTLM = true
	for sentence, o := range map[string]struct {
		options  tdstest.Options
		password string
	}{
		"wrong name or password": {windows, "another"},
		"NTLMv2 only":            {old, windows.Password},
	} {
		stub := tdstest.Start(t, o.options)
		target, err := reach.Target(fleet.SQLServer, strings.Replace(stub.DSN(""), "s3cr%3Ft%23%2F%C3%A4", o.password, 1))
		if o.password == windows.Password {
			target, err = reach.Target(fleet.SQLServer, stub.DSN(""))
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = target.Open(t.Context(), "", time.Minute)
		refused, ok := errors.AsType[*servers.ConnectionError](err)
		if !ok || refused.Class != servers.ClassAuthentication || !strings.Contains(refused.Sentence, sentence) || strings.Contains(refused.Sentence, "s3cr") {
			t.Errorf("%s: %v", sentence, err)
		}
		if sentence == "NTLMv2 only" && len(stub.Logins()) != 0 {
			t.Error("an old server got an answer")
		}
	}
}

// entra is a directory that gives out a token to one application.
func entra(t *testing.T, token string) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/contoso.example/oauth2/v2.0/token" || r.FormValue("grant_type") != "client_credentials" ||
			r.FormValue("scope") != "https://database.windows.net/.default" || r.FormValue("client_id") != "11-22" || r.FormValue("client_secret") != "s3cr?t#/ä" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"hunter2","error_codes":[7000215]}`)
			return
		}
		_, _ = io.WriteString(w, `{"token_type":"Bearer","expires_in":3599,"access_token":"`+token+`"}`)
	}))
	s.Config.ErrorLog = nil
	return s
}

// TestF3ApplicationsOfEntra sign in with a token that Entra gives for their secret. The secret goes to Entra alone, and
// the token only to a server whose certificate is verified.
func TestF3ApplicationsOfEntra(t *testing.T) {
	t.Parallel()
	trusted, config := authority(t, "db01.example")
	directory := entra(t, "a.b.c")
	directory.TLS = config
	directory.StartTLS()
	t.Cleanup(directory.Close)
	reach := &servers.Reach{Authorities: trusted, Directory: directory.URL}
	azure := tdstest.Options{User: "11-22@contoso.example", Password: "s3cr?t#/ä", Token: "a.b.c", TLS: config}
	stub := tdstest.Start(t, azure)
	if _, err := openSQLServer(t, reach, stub, "fedauth=ActiveDirectoryServicePrincipal", ""); err != nil {
		t.Fatal(err)
	}
	for sentence, change := range map[string]func(*tdstest.Options, *servers.Reach){
		"AADSTS7000215":     func(o *tdstest.Options, _ *servers.Reach) { o.Password = "expired" },
		"has no user for":   func(o *tdstest.Options, _ *servers.Reach) { o.Token = "another" },
		"does not reach it": func(_ *tdstest.Options, r *servers.Reach) { r.Directory = "https://127.0.0.1:1" },
	} {
		options, reach := azure, *reach
		change(&options, &reach)
		stub := tdstest.Start(t, options)
		_, err := openSQLServer(t, &reach, stub, "fedauth=ActiveDirectoryServicePrincipal", "")
		refused, ok := errors.AsType[*servers.ConnectionError](err)
		if !ok || !strings.Contains(refused.Sentence, sentence) || strings.Contains(refused.Sentence, "hunter2") {
			t.Errorf("%s: %v", sentence, err)
		}
		for _, login := range stub.Logins() {
			if login.User != "" || login.Password != "" {
				t.Errorf("the server got %+v", login)
			}
		}
	}
}
