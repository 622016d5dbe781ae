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
	"slices"
	"strconv"
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

// mostAnswer bounds an answer: that about an instance with ten thousand databases has 1 MB.
const mostAnswer = 16 << 20

// Problem is what the server refuses a call with.
type Problem struct {
	Status     int
	Code       string        `json:"code"`
	Title      string        `json:"title"`
	Detail     string        `json:"detail"`
	Errors     []FieldError  `json:"errors"`
	Budget     *Budget       `json:"budget"` // that is used up; nil: another reason
	RetryAfter time.Duration `json:"-"`      // 0: the server did not say
	Location   string        `json:"-"`      // where it sends us, and we do not go
}

// Budget is the budget that a call would exceed.
type Budget struct {
	Name string `json:"name"`
}

// FieldError is what is wrong with one part of a call.
type FieldError struct {
	Pointer string `json:"pointer"`
	Code    string `json:"code"`
	Detail  string `json:"detail"`
	Params  struct {
		Is any `json:"is"` // what the server has in the place of what we sent
	} `json:"params"`
}

func (p *Problem) Error() string {
	text := strconv.Itoa(p.Status) + " " + p.Code
	if p.Code == "" {
		text = fmt.Sprintf("%d %s: no answer of Muster's", p.Status, http.StatusText(p.Status))
	}
	if p.Budget != nil {
		text += " (" + p.Budget.Name + "): " + p.Detail
	}
	if p.Location != "" {
		text += fmt.Sprintf(", which leads to %q", p.Location)
	}
	for i, e := range p.Errors {
		if i == 3 {
			text += fmt.Sprintf("; %d more", len(p.Errors)-i)
			break
		}
		text += fmt.Sprintf("; %s %s %s", e.Pointer, e.Code, e.Detail)
	}
	return text
}

// names says whether the problem is one of a code.
func (p *Problem) names(code string) bool {
	return p.Code == code || slices.ContainsFunc(p.Errors, func(e FieldError) bool { return e.Code == code })
}

// isVerdict says whether the server has looked at a call and will not take it as it is.
// Anything else may be different a minute later, or did not come from the server at all.
func (p *Problem) isVerdict() bool {
	switch p.Status {
	case http.StatusRequestEntityTooLarge:
		return true
	case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity:
		return p.Code != ""
	case http.StatusForbidden: // of some instances; without any the token may not send at all
		return p.Code != "" && len(p.Errors) > 0
	}
	return false
}

// post sends a call; buffered says that its data has waited in the buffer. A refusal by the
// server is a *Problem; after any other error it is unknown whether the server has it. skew is
// how far the server's clock is ahead of ours, to half a second and the time of the call; 0
// without an answer.
func (s *sender) post(ctx context.Context, path string, body []byte, buffered bool) (skew time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	token, err := ReadToken(s.tokenFile)
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
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("User-Agent", "muster-agent/"+s.version)
	r.Header.Set("X-Muster-Sender", s.id)
	if buffered {
		r.Header.Set("X-Muster-Buffered", "true")
	}
	began := time.Now()
	answer, err := s.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return 0, err
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		took := time.Since(began)
		skew = date.Add(500 * time.Millisecond).Sub(began.Add(took / 2))
	}
	if answer.StatusCode == answers[path] && (len(text) == 0) == (answer.StatusCode == http.StatusNoContent) && (len(text) == 0 || json.Valid(text)) {
		return skew, nil
	}
	p := &Problem{RetryAfter: retryAfter(answer.Header.Get("Retry-After")), Location: answer.Header.Get("Location")}
	if json.Unmarshal(text, p) != nil { // something between us and the server answers otherwise
		*p = Problem{RetryAfter: p.RetryAfter, Location: p.Location}
	}
	p.Status = answer.StatusCode
	return skew, p
}

// answers are the server's answers that it has a call. Any other answer does not come from the
// server, and the data is kept.
var answers = map[string]int{
	fleetPath: http.StatusOK, samplesPath: http.StatusAccepted, assessmentsPath: http.StatusAccepted, agentsPath: http.StatusNoContent,
}

// Where calls go.
const (
	fleetPath       = "/ingest/v1/fleet"
	samplesPath     = "/ingest/v1/samples"
	assessmentsPath = "/ingest/v1/assessments"
	agentsPath      = "/ingest/v1/agents"
)

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
