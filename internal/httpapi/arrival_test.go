package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/domain/organization"
)

// lined is a recorder with a line whose deadlines it keeps, in seconds from now;
// 0: none.
type lined struct {
	*httptest.ResponseRecorder
	deadlines []int
}

func (l *lined) SetReadDeadline(t time.Time) error {
	seconds := 0
	if !t.IsZero() {
		seconds = int(time.Until(t).Round(time.Second) / time.Second)
	}
	l.deadlines = append(l.deadlines, seconds)
	return nil
}

// TestABodyHasItsTime: JSON 10 s, what is large a minute once its sender was let in,
// and what a handler does with it is not bounded by that.
func TestABodyHasItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ingest := w.ingestToken(w.ours.admin)
	for name, c := range map[string]struct {
		method, path, token, body string
		session                   string
		want                      string
	}{
		"JSON":                     {"POST", "/api/v1/session", "", `{"email":"a@b.example","password":"x"}`, "", "[10 0]"},
		"JSON of a member":         {"POST", "/api/v1/reports", "", `{}`, w.ours.member.session, "[10 0]"},
		"a feed's":                 {"POST", "/ingest/v1/fleet", ingest, `{"instances":[]}`, "", "[10 60 0]"},
		"an agent's":               {"POST", "/ingest/v1/alertmanager/api/v2/alerts", ingest, `[]`, "", "[10 60 0]"},
		"a feed's without a token": {"POST", "/ingest/v1/fleet", "", `{"instances":[]}`, "", "[10]"},
		"a PDF to verify":          {"POST", "/api/v1/reports/verify", "", pdfText, w.ours.member.session, "[10 60 0]"},
		"what nobody reads":        {"GET", "/api/v1/session", "", "x", w.ours.member.session, "[10]"},
		"nothing":                  {"GET", "/api/v1/session", "", "", w.ours.member.session, "[]"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://muster.test"+c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		if strings.HasSuffix(c.path, "verify") {
			r.Header.Set("Content-Type", "application/pdf")
		}
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		if c.session != "" {
			r.AddCookie(&http.Cookie{Name: "__Host-muster_session", Value: c.session})
		}
		line := &lined{ResponseRecorder: httptest.NewRecorder()}
		w.handler.ServeHTTP(line, r)
		if got := fmt.Sprint(append([]int{}, line.deadlines...)); got != c.want {
			t.Errorf("%s: deadlines %s after %d, want %s", name, got, line.Code, c.want)
		}
	}
}

// TestASlowBodyIsGivenUp: whoever sends a byte and no more keeps no connection.
func TestASlowBodyIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ingest, token := w.ingestToken(w.ours.admin), w.token(w.ours.member, organization.ScopeAlertsRead)
	w.server.arrival = arrival{body: 50 * time.Millisecond, large: 100 * time.Millisecond}
	server := httptest.NewServer(w.handler)
	t.Cleanup(server.Close)
	session := "Cookie: __Host-muster_session=" + w.ours.member.session
	var hands sync.WaitGroup
	for line, c := range map[string]struct {
		header string
		status int
	}{
		"POST /api/v1/session":        {"Content-Type: application/json", 408},
		"POST /api/v1/reports":        {"Content-Type: application/json\r\n" + session, 408},
		"POST /api/v1/reports/verify": {"Content-Type: application/pdf\r\n" + session, 408},
		"POST /ingest/v1/fleet":       {"Content-Type: application/json\r\nAuthorization: Bearer " + ingest, 408},
		"POST /ingest/v1/alerts":      {"Content-Type: application/json\r\nAuthorization: Bearer none", 401},
		"POST /mcp":                   {"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer " + token, 408},
		"GET /api/v1/session":         {session, 200},
		"POST /nowhere":               {"Content-Type: text/plain", 404},
		"GET /":                       {"Accept: text/html", 200},
	} {
		for _, length := range []string{"Content-Length: 1000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{"} {
			hands.Go(func() {
				conn, err := net.Dial("tcp", server.Listener.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(time.Minute))
				fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: muster.test\r\n%s\r\n%s", line, c.header, length)
				in := bufio.NewReader(conn)
				answer, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Errorf("%s: %v", line, err)
					return
				}
				defer answer.Body.Close()
				if answer.StatusCode != c.status || !answer.Close {
					t.Errorf("%s: %d, Connection: %s", line, answer.StatusCode, answer.Header.Get("Connection"))
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				if _, err := in.ReadByte(); err == nil || strings.Contains(err.Error(), "timeout") {
					t.Errorf("%s: the connection is kept: %v", line, err)
				}
			})
		}
	}
	hands.Wait()
}
