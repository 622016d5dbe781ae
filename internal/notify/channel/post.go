package channel

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster/internal/networks"
)

// timeout is all that a receiver gets, from the look-up to the answer's headers.
const timeout = 10 * time.Second

// lookupTimeout bounds the look-up for somebody who waits for an answer.
const lookupTimeout = 3 * time.Second

// Error is why something was not taken, in a sentence that shows nobody's secrets.
type Error struct {
	Code     int // of HTTP; 0: nothing was answered
	Sentence string
	Final    bool          // trying again is of no use
	After    time.Duration // the receiver asked to wait for so long (Retry-After); zero: it did not
}

// RetryAfter is how long the next attempt waits at least.
func (e *Error) RetryAfter() time.Duration { return e.After }

// longestWait is the longest Retry-After that is believed: a delivery is tried for a day.
const longestWait = time.Hour

// waitOf reads Retry-After: seconds, or a date that is judged by the answer's own.
func waitOf(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, longestWait)
	}
	until, err := http.ParseTime(text)
	at, failed := http.ParseTime(header.Get("Date"))
	if err != nil || failed != nil {
		return 0
	}
	return min(max(until.Sub(at), 0), longestWait)
}

func (e *Error) Error() string { return e.Sentence }

// Poster posts to where Networks allow. The zero Poster posts to the Internet.
type Poster struct {
	Networks  []netip.Prefix // none: all but private, loopback, link-local, multicast and unspecified
	Resolver  *net.Resolver  // nil: the machine's
	Roots     *x509.CertPool // nil: the machine's
	Timeout   time.Duration  // zero: ten seconds
	UserAgent string
}

const notAllowed = "is in a network that this installation does not send to (MUSTER_CHANNEL_NETWORKS)"

// AllowsURL says whether a URL's host is, as it is found now, in a network that is allowed.
// A host that cannot be found may be there later. The error is a clause.
func (p *Poster) AllowsURL(ctx context.Context, text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return errors.New("is not a URL")
	}
	found := []netip.Addr{}
	if literal, err := netip.ParseAddr(u.Hostname()); err == nil {
		found = append(found, literal)
	} else {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		if found, err = cmp.Or(p.Resolver, net.DefaultResolver).LookupNetIP(ctx, "ip", u.Hostname()); err != nil {
			return nil //nolint:nilerr // each attempt looks again
		}
	}
	for _, a := range found {
		if networks.Public(p.Networks, a) {
			return nil
		}
	}
	return errors.New(notAllowed)
}

// errNotDialled says that the very address that would be dialled is not allowed.
var errNotDialled = errors.New("the address is in no network that is allowed")

func (p *Poster) dialer() *net.Dialer {
	return &net.Dialer{Resolver: p.Resolver, Control: func(_, address string, _ syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err != nil || !networks.Public(p.Networks, at.Addr()) {
			return errNotDialled
		}
		return nil
	}}
}

// Post posts a body once and returns the status code of a 2xx. Errors: *Error.
func (p *Poster) Post(ctx context.Context, to string, header http.Header, body []byte) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(p.Timeout, timeout))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0, &Error{Sentence: "The address is not a URL.", Final: true}
	}
	request.Header = header.Clone()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", cmp.Or(p.UserAgent, "Muster"))
	// A connection for each: what was judged is what is used, and nothing is left open.
	client := &http.Client{
		Transport: &http.Transport{
			DialContext: p.dialer().DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
			TLSClientConfig: &tls.Config{RootCAs: p.Roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, unanswered(err)
	}
	_ = answer.Body.Close()
	return judge(answer.StatusCode, waitOf(answer.Header))
}

func judge(code int, after time.Duration) (int, error) {
	said := strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
	switch {
	case code >= 200 && code < 300:
		return code, nil
	case code >= 300 && code < 400:
		return code, &Error{Code: code, Sentence: "The receiver answered " + said + "; redirects are not followed."}
	}
	return code, &Error{Code: code, Sentence: "The receiver answered " + said + ".", Final: code == http.StatusGone, After: after}
}

// unanswered says why there was no answer.
func unanswered(err error) *Error {
	var (
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		network     net.Error
	)
	sentence := "The connection to the receiver broke."
	switch {
	case errors.Is(err, errNotDialled):
		sentence = "The receiver " + notAllowed + "."
	case errors.As(err, &dns):
		sentence = "The receiver's name cannot be resolved."
	case errors.As(err, &certificate):
		sentence = "The receiver's certificate cannot be trusted."
	case errors.As(err, &record):
		sentence = "The receiver does not speak TLS."
	case errors.Is(err, syscall.ECONNREFUSED):
		sentence = "The receiver refused the connection."
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		sentence = "The receiver cannot be reached."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		sentence = "The receiver did not answer in time."
	}
	return &Error{Sentence: sentence}
}
