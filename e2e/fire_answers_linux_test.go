package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/concurrency/pause"
)

// call is one request of a client.
type call struct {
	method, path string
	body         any
	key          string   // Idempotency-Key
	may          []string // codes of problems that are an answer as good as another
}

// caller is a client who does as the contract tells them (§1.5): after an answer that says so,
// or none, they ask again, and not before Retry-After is over; any other is the last word.
type caller struct {
	*fire
	does   string // what the table calls them
	number int    // among those who do the same
	draw   *rand.Rand
}

func (f *fire) caller(does string, number int, draw *rand.Rand) *caller {
	return &caller{fire: f, does: does, number: number, draw: draw}
}

// name is nobody else's.
func (c *caller) name() string {
	return fmt.Sprintf("%s-%d", strings.ReplaceAll(c.does, " ", "-"), c.number)
}

// ask asks until there is an answer for good; false where that has not come when the fire is
// over, or was none that the contract allows.
func (c *caller) ask(do call) (answer, bool) {
	c.book.asks(c.does)
	for {
		began := time.Now()
		got, err := c.once(c.work, do)
		if c.work.Err() != nil {
			return answer{}, false
		}
		v := judge(got, err, do.may)
		c.book.answered(c.does, v)
		switch {
		case v.wrong != "":
			c.book.wrong("%s %s of %s, asked at %s, is answered %s", do.method, do.path, c.name(), c.book.time(began), v.wrong)
			return got, false
		case v.last:
			return got, true
		}
		if pause.For(c.work, v.after) != nil {
			return got, false
		}
	}
}

// once asks once, through nginx.
func (c *caller) once(ctx context.Context, do call) (answer, error) {
	var content io.Reader
	if do.body != nil {
		body, err := json.Marshal(do.body)
		if err != nil {
			return answer{}, err
		}
		content = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, do.method, "https://"+c.front+do.path, content)
	if err != nil {
		return answer{}, err
	}
	r.Host = strings.TrimPrefix(publicURL, "https://")
	token := c.admin
	if strings.HasPrefix(do.path, "/ingest/") {
		token = c.ingest
		r.Header.Set("X-Muster-Sender", c.name())
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if do.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if do.key != "" {
		r.Header.Set("Idempotency-Key", do.key)
	}
	response, err := c.through.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, header: response.Header, body: read}, err
}

// verdict is what an answer is to a client.
type verdict struct {
	label string        // what the table counts it as
	last  bool          // it is the last word; else they ask again,
	after time.Duration // and not before that
	wrong string        // what the contract does not allow; empty: it does
}

// The labels of answers.
const (
	answeredWell = "2xx"
	unanswered   = "none"
	ofProxy      = "502, 504"
)

// unansweredPause is how long clients wait who are told nothing, or by the proxy.
const unansweredPause = 200 * time.Millisecond

// longestRetry is how long anybody may be told to wait: for an Idempotency-Key that was
// abandoned, half a minute (§26).
const longestRetry = 31 * time.Second

// judge holds an answer to the contract. Whatever Muster itself says has an id.
func judge(got answer, err error, may []string) verdict {
	code := got.code()
	ours := got.header.Get("X-Request-Id") != ""
	v := verdict{label: strconv.Itoa(got.status), after: unansweredPause}
	switch {
	case err != nil:
		v.label = unanswered
	case !ours && (got.status == http.StatusBadGateway || got.status == http.StatusGatewayTimeout):
		v.label = ofProxy // it died, or the line did
	case got.status < http.StatusMultipleChoices || got.status == http.StatusNotModified:
		v.label, v.last = answeredWell, true
	case code != "" && slices.Contains(may, code):
		v.last = true
	case got.status == http.StatusTooManyRequests, got.status == http.StatusServiceUnavailable, code == "idempotency_in_progress":
		seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
		v.after = time.Duration(seconds) * time.Second
		if err != nil || v.after <= 0 || v.after > longestRetry || !ours {
			v.wrong = fmt.Sprintf("%d %s with Retry-After %q", got.status, got.body, got.header.Get("Retry-After"))
		}
	case got.status == http.StatusRequestTimeout && ours: // its body hung on a line
	default:
		v.wrong = fmt.Sprintf("%d %.400s", got.status, got.body)
	}
	return v
}
