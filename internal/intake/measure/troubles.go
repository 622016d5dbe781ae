package measure

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"muster/internal/servers"
)

// Troubles logs what fails once, and once when it works again. It is one goroutine's at a time.
type Troubles struct {
	Log          *slog.Logger
	Fails, Works string              // the messages
	Unnamed      bool                // a refused connection is logged by its class and code: its sentence names accounts
	open         map[string][]string // the reasons that were logged, by part
}

// mostReasons limits the lines for a part that keeps failing for different reasons.
const mostReasons = 5

// connection is the part that is the connection to a server.
const connection = "connection"

// Note takes how a part went.
func (t *Troubles) Note(ctx context.Context, part string, err error) {
	if err == nil {
		t.Mended(ctx, part)
		return
	}
	reason := reasonOf(err)
	kind := reason
	if refused, ok := errors.AsType[*servers.ConnectionError](err); ok {
		kind = refused.Class
		if t.Unnamed {
			reason = withCode(refused.Code, refused.Class)
		}
	} else if part == connection { // the server has ended it, and takes no other
		kind = servers.ClassRefused
	}
	t.Failed(ctx, part, kind, reason)
}

// Failed records that a part failed. Reasons of one kind are logged once.
func (t *Troubles) Failed(ctx context.Context, part, kind, reason string) {
	told := t.open[part]
	if ctx.Err() != nil || slices.Contains(told, kind) || len(told) == mostReasons { // or we were told to end
		return
	}
	if t.open == nil {
		t.open = map[string][]string{}
	}
	t.open[part] = append(told, kind)
	t.Log.WarnContext(ctx, t.Fails, "part", part, "reason", reason)
}

// Mended takes that a part works.
func (t *Troubles) Mended(ctx context.Context, part string) {
	if _, failed := t.open[part]; failed {
		delete(t.open, part)
		t.Log.InfoContext(ctx, t.Works, "part", part)
	}
}

// reasonOf is the reason of a failure, for the log. It has the code of a server's error, and
// the words only if they are known to quote no data and to name nobody.
func reasonOf(err error) string {
	if refused, ok := errors.AsType[*servers.ConnectionError](err); ok {
		return withCode(refused.Code, refused.Error())
	}
	if answer, ok := errors.AsType[*servers.Refusal](err); ok {
		said := sentenceOf(answer.Reason)
		if answer.Words != "" {
			said = answer.Words
		}
		return withCode(answer.Code, said)
	}
	return err.Error()
}

func withCode(code, said string) string {
	if code == "" || strings.Contains(said, code) {
		return said
	}
	return said + " (" + code + ")"
}
