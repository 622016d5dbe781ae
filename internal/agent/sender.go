package agent

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// sender speaks to the server.
type sender struct {
	client    *http.Client
	server    *url.URL
	tokenFile string // read at each call: it is replaced while the agent runs
	id        string // X-Muster-Sender
	version   string
}

// callTimeout bounds a call: the server answers one of ten thousand items in seconds.
const callTimeout = 30 * time.Second

// Problem is what the server refuses a call with.
type Problem struct {
	Status     int
	Code       string        `json:"code"`
	Title      string        `json:"title"`
	Detail     string        `json:"detail"`
	Errors     []FieldError  `json:"errors"`
	RetryAfter time.Duration `json:"-"` // 0: the server did not say
}

// FieldError is what is wrong with one part of a call.
type FieldError struct {
	Pointer string `json:"pointer"`
	Code    string `json:"code"`
	Detail  string `json:"detail"`
}

func (p *Problem) Error() string {
	text := strconv.Itoa(p.Status) + " " + p.Code
	for i, e := range p.Errors {
		if i == 3 {
			text += fmt.Sprintf("; %d more", len(p.Errors)-i)
			break
		}
		text += fmt.Sprintf("; %s %s %s", e.Pointer, e.Code, e.Detail)
	}
	return text
}

// post sends a call. What the server refuses is a *Problem; any other error says that
// nobody knows whether the server has it. skew is how far the server's clock is ahead of
// ours, to half a second and the time of the call; 0 where nobody answered.
func (s *sender) post(ctx context.Context, path string, body []byte) (skew time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	token, err := os.ReadFile(s.tokenFile)
	if err != nil {
		return 0, fmt.Errorf("read the token: %w", err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(body); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.server.JoinPath(path).String(), &packed)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("User-Agent", "muster-agent/"+s.version)
	r.Header.Set("X-Muster-Sender", s.id)
	began := time.Now()
	answer, err := s.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return 0, err
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		took := time.Since(began)
		skew = date.Add(500 * time.Millisecond).Sub(began.Add(took / 2))
	}
	if answer.StatusCode < 300 {
		return skew, nil
	}
	p := &Problem{RetryAfter: retryAfter(answer.Header.Get("Retry-After"))}
	_ = json.Unmarshal(text, p) // something between us and the server answers otherwise
	p.Status = answer.StatusCode
	return skew, p
}

func retryAfter(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return min(time.Duration(n)*time.Second, time.Hour)
}

// longestPause is how long the agent waits at most before it tries a server again that
// is away.
const longestPause = time.Minute

// pauseAfter is how long to wait after so many failures in a row; what the server asks for
// counts.
func pauseAfter(failures int, err error) time.Duration {
	var p *Problem
	if errors.As(err, &p) && p.RetryAfter > 0 {
		return p.RetryAfter
	}
	pause := longestPause
	if failures < 7 {
		pause = min(time.Second<<failures, longestPause)
	}
	return pause/2 + rand.N(pause/2) //nolint:gosec // G404: nothing is guarded by it
}
