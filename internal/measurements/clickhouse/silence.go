package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/measurements/blocks"
)

// SilentError says that a server does not answer, and that no caller waits for it until it
// does.
type SilentError struct {
	Since time.Time
	Err   error // what the one got who waited
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("it has said nothing since %s UTC, and is asked again every second: %s", e.Since.UTC().Format(time.TimeOnly), e.Err)
}

func (e *SilentError) Unwrap() error { return e.Err }

// silence is whether a server answers at all. A host that drops packets would cost every caller
// the time to connect, and each read of a tile again. So the first caller who waited in vain
// reports it for all, and one goroutine goes on asking. A refusal or an error is an answer:
// such a server is asked again by the next caller.
type silence struct {
	mu     sync.Mutex
	asking bool         // the first one looks whether it is
	since  *SilentError // nil: it answers, as far as anybody knows
}

// askInterval is how often a silent server is asked whether it is back.
const askInterval = time.Second

// answers returns at once; it returns an error if no caller should wait for the server.
func (n *node) answers() error {
	n.silence.mu.Lock()
	defer n.silence.mu.Unlock()
	if n.silence.since == nil {
		return nil
	}
	return &blocks.UnavailableError{Part: "ClickHouse on " + n.host, Err: n.silence.since}
}

// judge is the package's judge. If the server did not answer, it also checks whether it is
// there at all: a server that was only slow with one statement stays in use.
func (n *node) judge(caller context.Context, err error) error {
	if isSilence(err) && !errors.Is(caller.Err(), context.Canceled) {
		n.suspect()
	}
	return judge(caller, n.host, err)
}

func (n *node) suspect() {
	is := &n.silence
	is.mu.Lock()
	defer is.mu.Unlock()
	if is.asking || is.since != nil {
		return
	}
	is.asking = true
	is.mu.Unlock()
	err := n.ping()
	is.mu.Lock()
	if is.asking = false; isSilence(err) {
		is.since = &SilentError{time.Now(), err}
		go func() {
			_ = supervise.New(n.store.log, supervise.Counts{}).Finish(n.store.open, "ask a silent server", n.askUntilItAnswers)
		}()
	}
}

// isSilence says whether an error means that the caller waited in vain.
func isSilence(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrAcquireConnTimeout) || errors.As(err, &network) && network.Timeout()
}

// askUntilItAnswers ends when the server says anything, were it that we may not come in.
func (n *node) askUntilItAnswers(ctx context.Context) error {
	for {
		if err := pause.For(ctx, askInterval); err != nil {
			return err
		}
		if !isSilence(n.ping()) {
			break
		}
	}
	n.silence.mu.Lock()
	defer n.silence.mu.Unlock()
	n.store.log.InfoContext(n.store.open, "a server of measurements answers", "host", n.host, "silent", time.Since(n.silence.since.Since).Round(time.Millisecond))
	n.silence.since = nil
	return nil
}

// ping connects anew: connections of the pool may wait for an answer that never comes.
func (n *node) ping() error {
	conn, err := driver.Open(n.options())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	within, cancel := context.WithTimeout(n.store.open, n.store.limits.Dial)
	defer cancel()
	return conn.Ping(within)
}
