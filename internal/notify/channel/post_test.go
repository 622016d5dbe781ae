package channel_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"muster/internal/notify/channel"
)

// here are the networks of the tests' receivers.
var here = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// TestReceiversThatAreBad get one attempt that ends in time, and what is said of it shows
// neither their address nor what they said.
func TestReceiversThatAreBad(t *testing.T) {
	t.Parallel()
	var followed atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	t.Cleanup(elsewhere.Close)
	gone := make(chan struct{})
	t.Cleanup(func() { close(gone) })
	answers := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", elsewhere.URL+"/s3cret")
			w.WriteHeader(code)
			_, _ = w.Write([]byte(strings.Repeat("s3cret", 10_000)))
		}
	}
	for name, test := range map[string]struct {
		does     http.HandlerFunc
		code     int
		sentence string
		final    bool
	}{
		"takes it":           {does: answers(204), code: 204},
		"fails":              {does: answers(500), code: 500, sentence: "The receiver answered 500 Internal Server Error."},
		"wants no more":      {does: answers(410), code: 410, sentence: "The receiver answered 410 Gone.", final: true},
		"refuses us":         {does: answers(403), code: 403, sentence: "The receiver answered 403 Forbidden."},
		"sends us elsewhere": {does: answers(307), code: 307, sentence: "The receiver answered 307 Temporary Redirect; redirects are not followed."},
		"says nothing":       {does: func(http.ResponseWriter, *http.Request) { <-gone }, sentence: "The receiver did not answer in time."},
		"hangs up":           {does: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, sentence: "The connection to the receiver broke."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.does)
			t.Cleanup(server.CloseClientConnections)
			poster := channel.Poster{Networks: here, Timeout: 10 * time.Second}
			if test.sentence == "The receiver did not answer in time." {
				poster.Timeout = 50 * time.Millisecond
			}
			code, err := poster.Post(t.Context(), server.URL+"/s3cret?token=s3cret", http.Header{}, []byte(`{}`))
			var refused *channel.Error
			if errors.As(err, &refused) != (test.sentence != "") || code != test.code {
				t.Fatalf("%d, %v", code, err)
			}
			if refused != nil && (refused.Sentence != test.sentence || refused.Final != test.final || refused.Code != test.code) {
				t.Errorf("%+v, want %+v", *refused, test)
			}
		})
	}
	t.Run("nobody", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		_, err := (&channel.Poster{Networks: here}).Post(t.Context(), server.URL, http.Header{}, nil)
		if err == nil || err.Error() != "The receiver refused the connection." {
			t.Error(err)
		}
	})
	t.Run("plain HTTP where TLS was set", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(answers(200))
		t.Cleanup(server.Close)
		_, err := (&channel.Poster{Networks: here}).Post(t.Context(), strings.Replace(server.URL, "http:", "https:", 1), http.Header{}, nil)
		if err == nil || strings.Contains(err.Error(), "127.0.0.1") {
			t.Error(err)
		}
	})
	t.Run("a certificate of nobody's", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewTLSServer(answers(200))
		t.Cleanup(server.Close)
		_, err := (&channel.Poster{Networks: here}).Post(t.Context(), server.URL, http.Header{}, nil)
		if err == nil || err.Error() != "The receiver's certificate cannot be trusted." {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if followed.Load() {
			t.Error("a redirect was followed")
		}
	})
}

// TestForbiddenNetworks are refused when a channel is set, and at each attempt: by address in
// whatever form, by name, and where a name means another address a moment later.
func TestForbiddenNetworks(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(server.Close)
	port := server.Listener.Addr().(*net.TCPAddr).Port
	open := channel.Poster{} // to the Internet
	for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "[::1]", "10.0.0.1", "169.254.169.254", "0.0.0.0", "[64:ff9b::7f00:1]"} {
		url := "http://" + host + ":" + itoa(port) + "/"
		if err := open.AllowsURL(t.Context(), url); err == nil {
			t.Errorf("%s is allowed", url)
		}
		if _, err := open.Post(t.Context(), url, http.Header{}, nil); err == nil || !strings.Contains(err.Error(), "MUSTER_CHANNEL_NETWORKS") {
			t.Errorf("%s: %v", url, err)
		}
	}
	// The name is public when it is judged, and ours when it is dialled.
	names := &rebinding{first: netip.MustParseAddr("93.184.216.34"), then: netip.MustParseAddr("127.0.0.1")}
	rebound := channel.Poster{Resolver: names.start(t)}
	url := "http://receiver.example:" + itoa(port) + "/"
	if err := rebound.AllowsURL(t.Context(), url); err != nil {
		t.Errorf("a public name: %v", err)
	}
	names.moved.Store(true)
	if _, err := rebound.Post(t.Context(), url, http.Header{}, nil); err == nil || !strings.Contains(err.Error(), "MUSTER_CHANNEL_NETWORKS") {
		t.Errorf("a name that was rebound: %v", err)
	}
	if err := rebound.AllowsURL(t.Context(), url); err == nil {
		t.Error("a name that was rebound is allowed")
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d requests came through", n)
	}
	allowed := channel.Poster{Networks: here, Resolver: rebound.Resolver}
	if _, err := allowed.Post(t.Context(), url, http.Header{}, nil); err != nil || reached.Load() != 1 {
		t.Errorf("a name in a network that is set: %v", err)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// rebinding is a name server that gives every name one address, and later another.
type rebinding struct {
	first, then netip.Addr
	moved       atomic.Bool
}

func (r *rebinding) start(t *testing.T) *net.Resolver {
	t.Helper()
	socket, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	go func() {
		packet := make([]byte, 1500)
		for {
			n, from, err := socket.ReadFrom(packet)
			if err != nil {
				return
			}
			if answer, err := r.answer(packet[:n]); err == nil {
				_, _ = socket.WriteTo(answer, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", socket.LocalAddr().String())
	}}
}

func (r *rebinding) answer(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil, err
	}
	m.Response, m.Additionals = true, nil
	at := r.first
	if r.moved.Load() {
		at = r.then
	}
	if m.Questions[0].Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
			Body:   &dnsmessage.AResource{A: at.As4()},
		}}
	}
	return m.Pack()
}

// TestRetryAfter is read in both of its forms, and believed for an hour at most.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, "999999": time.Hour, "-5": 0, "soon": 0,
		"Sat, 28 Nov 2026 10:00:30 GMT": 30 * time.Second, "Sat, 28 Nov 2026 09:00:00 GMT": 0,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", "Sat, 28 Nov 2026 10:00:00 GMT")
			w.Header().Set("Retry-After", text)
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		_, err := (&channel.Poster{Networks: here}).Post(t.Context(), server.URL, http.Header{}, nil)
		server.Close()
		var refused *channel.Error
		if !errors.As(err, &refused) || refused.After != want || refused.Final {
			t.Errorf("%q: %+v, want %s", text, refused, want)
		}
	}
}
