package checkpoint

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/postgres/statement"
	"muster/internal/proof/attest"
)

//go:embed sql/cosign.sql
var addCosignature string

const (
	// askEvery is how long a witness that was away waits to be asked again.
	askEvery = time.Minute
	// answerTimeout bounds the wait for one witness. Nothing else waits with it.
	answerTimeout = 10 * time.Second
	// maxAnswer bounds what is read of an answer, which has a signature or two.
	maxAnswer = 64 << 10
	// clockSlack is how far a witness's clock may be from ours.
	clockSlack = 10 * time.Minute
)

// Witnesses ask others to cosign the checkpoints (C2SP tlog-witness).
type Witnesses struct {
	DB     *sqlx.DB
	Maker  *Maker
	Ask    []attest.Witness
	Now    func() time.Time
	Log    *slog.Logger
	Client *http.Client // nil: one with a time limit, which follows no redirects
	// Answered is called with what came of each time that a witness was asked.
	Answered func(witness string, log eventstore.Log, a WitnessAnswer)

	mu      sync.Mutex
	seen    map[string]int64         // by witness and log: the checkpoint that it has cosigned
	refused map[string]*RefusalError // by witness and log: until it cosigns
}

// WitnessAnswer is what came of asking a witness.
type WitnessAnswer string

// The answers.
const (
	Cosigned WitnessAnswer = "cosigned"
	Refused  WitnessAnswer = "refused" // it has seen another history
	Failed   WitnessAnswer = "failed"  // away, or its answer is of no use: it is asked again
)

// WitnessAnswers lists them.
func WitnessAnswers() []WitnessAnswer { return []WitnessAnswer{Cosigned, Refused, Failed} }

// RefusalError reports a witness that has seen another history than the one it is shown.
type RefusalError struct {
	Witness    string
	Log        eventstore.Log
	Size, Seen int64 // of the checkpoint, and of what the witness has seen; 0: it does not say
}

func (e *RefusalError) Error() string {
	if e.Seen > e.Size {
		return fmt.Sprintf("witness %s has seen %d events of log %s, and there are %d: the log was set back, by a restore or by somebody", e.Witness, e.Seen, e.Log, e.Size)
	}
	return fmt.Sprintf("witness %s has seen another history of log %s than the one of %d events it is shown", e.Witness, e.Log, e.Size)
}

// AnswerError reports an unusable answer of a witness.
type AnswerError struct {
	Witness string
	Reason  string
}

func (e *AnswerError) Error() string { return "witness " + e.Witness + ": " + e.Reason }

// Run asks all witnesses about each new checkpoint until ctx ends, and again those that
// did not answer. It wants to be told of new ones by made.
func (w *Witnesses) Run(ctx context.Context, made <-chan struct{}) error {
	for {
		w.AskAll(ctx)
		if err := pause.Unless(ctx, askEvery, made); err != nil {
			return err
		}
	}
}

// AskAll shows every witness the last checkpoints that it has not cosigned, and keeps
// what it signs. What fails is logged, and told by the next turn again.
func (w *Witnesses) AskAll(ctx context.Context) {
	var asking supervise.Group
	for _, log := range eventstore.Logs {
		last, ok, err := w.Maker.Latest(ctx, log)
		if err != nil {
			w.Log.WarnContext(ctx, "no witness can be asked", "log", log, "error", err)
		}
		if err != nil || !ok {
			continue
		}
		for _, one := range w.Ask {
			_, has := attest.Cosigned(last.Note, one.Verifier)
			if has {
				w.tookBack(one, log)
			}
			if has || one.URL == nil {
				continue
			}
			asking.Go(func() error {
				w.tell(ctx, one, last, supervise.Call(func() error { return w.ask(ctx, one, last) }))
				return nil
			})
		}
	}
	asking.Join()
}

func (w *Witnesses) tell(ctx context.Context, one attest.Witness, c Checkpoint, err error) {
	var refusal *RefusalError
	switch {
	case ctx.Err() != nil:
	case err == nil:
		w.answered(one, c.Log, Cosigned, nil)
	case errors.As(err, &refusal):
		w.answered(one, c.Log, Refused, refusal)
		w.Log.ErrorContext(ctx, "a witness does not cosign the log", "witness", one.Name(), "log", c.Log, "error", err)
	default:
		w.answered(one, c.Log, Failed, nil)
		w.Log.WarnContext(ctx, "a witness did not cosign, asking it again", "witness", one.Name(), "log", c.Log, "error", err)
	}
}

// answered keeps a refusal until the witness cosigns that log, whichever process asks it. A
// witness that is away has not withdrawn its refusal.
func (w *Witnesses) answered(one attest.Witness, log eventstore.Log, a WitnessAnswer, refusal *RefusalError) {
	switch a {
	case Refused:
		w.refuse(one, log, refusal)
	case Cosigned:
		w.tookBack(one, log)
	case Failed:
	}
	if w.Answered != nil {
		w.Answered(one.Name(), log, a)
	}
}

func (w *Witnesses) refuse(one attest.Witness, log eventstore.Log, refusal *RefusalError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused == nil {
		w.refused = map[string]*RefusalError{}
	}
	w.refused[one.Name()+" "+string(log)] = refusal
}

func (w *Witnesses) tookBack(one attest.Witness, log eventstore.Log) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.refused, one.Name()+" "+string(log))
}

// Check returns a refusal that no witness took back: it is a check of readiness.
func (w *Witnesses) Check(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, refusal := range w.refused {
		return refusal
	}
	return nil
}

// ask shows a witness a checkpoint, starting from the last size that it has seen.
func (w *Witnesses) ask(ctx context.Context, one attest.Witness, c Checkpoint) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	old := w.remembered(one, c.Log)
	if old > c.Size {
		old = 0
	}
	lines, seen, err := w.send(ctx, one, c, old)
	if err == nil && seen != nil { // it has seen another size than we thought
		if *seen > c.Size {
			if c, err = w.later(ctx, one, c, *seen); err != nil {
				return err
			}
		}
		if lines, seen, err = w.send(ctx, one, c, *seen); err == nil && seen != nil {
			return &AnswerError{one.Name(), "it cannot say how much it has seen"}
		}
	}
	if err != nil {
		return err
	}
	line, err := w.judge(one, c, lines)
	if err != nil {
		return err
	}
	w.remember(one, c.Log, c.Size)
	return statement.Exec(ctx, w.DB, "add a cosignature", addCosignature, string(c.Log), c.Size, line, line[:strings.LastIndex(line, " ")+6])
}

// later is the last checkpoint, if a witness has seen more than the one it is shown: another
// process may have made the next one and had it cosigned. Errors: *RefusalError if there is no
// checkpoint over as many events.
func (w *Witnesses) later(ctx context.Context, one attest.Witness, c Checkpoint, seen int64) (Checkpoint, error) {
	last, ok, err := w.Maker.Latest(ctx, c.Log)
	if err == nil && (!ok || last.Size < seen) {
		err = &RefusalError{Witness: one.Name(), Log: c.Log, Size: max(c.Size, last.Size), Seen: seen}
	}
	return last, err
}

// judge finds the witness's signature among the lines of its answer.
func (w *Witnesses) judge(one attest.Witness, c Checkpoint, lines []byte) (line string, err error) {
	body, _, _ := strings.Cut(c.Note, "\n\n")
	opened, err := note.Open(append([]byte(body+"\n\n"), lines...), note.VerifierList(one.Verifier))
	if err != nil {
		return "", &AnswerError{one.Name(), "its answer is no signature of its key over this checkpoint"}
	}
	at, err := cosignature.CoSigV1Timestamp(opened.Sigs[0])
	if err != nil {
		return "", &AnswerError{one.Name(), "its signature has no time"}
	}
	if off := w.Now().Sub(at).Abs(); off > clockSlack {
		return "", &AnswerError{one.Name(), fmt.Sprintf("its signature is of %s, %s from our clock", at.UTC().Format(time.RFC3339), off.Round(time.Second))}
	}
	return fmt.Sprintf("— %s %s\n", opened.Sigs[0].Name, opened.Sigs[0].Base64), nil
}

// send posts a checkpoint; seen is set where the witness has seen another size than old.
func (w *Witnesses) send(ctx context.Context, one attest.Witness, c Checkpoint, old int64) (lines []byte, seen *int64, err error) {
	body, err := w.request(ctx, c, old)
	if err != nil {
		return nil, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, one.URL.JoinPath("add-checkpoint").String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	a, err := w.client().Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = a.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(a.Body, maxAnswer))
	if err != nil {
		return nil, nil, err
	}
	form, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	switch {
	case a.StatusCode == http.StatusOK:
		return said, nil, nil
	case a.StatusCode == http.StatusConflict && form == "text/x.tlog.size":
		size, err := strconv.ParseInt(strings.TrimSuffix(string(said), "\n"), 10, 64)
		if err != nil || size < 0 {
			return nil, nil, &AnswerError{one.Name(), "it says no size"}
		}
		if size == old {
			return nil, nil, &RefusalError{Witness: one.Name(), Log: c.Log, Size: c.Size}
		}
		return nil, &size, nil
	case a.StatusCode == http.StatusConflict, a.StatusCode == http.StatusUnprocessableEntity:
		return nil, nil, &RefusalError{Witness: one.Name(), Log: c.Log, Size: c.Size}
	case a.StatusCode == http.StatusNotFound:
		return nil, nil, &AnswerError{one.Name(), "it does not know " + w.Maker.keys.Origin(c.Log) + ": give its operator the origin and the log's verifier key"}
	case a.StatusCode == http.StatusForbidden:
		return nil, nil, &AnswerError{one.Name(), "it knows none of the keys that signed: give its operator the log's current verifier key"}
	}
	return nil, nil, &AnswerError{one.Name(), "it answers " + a.Status}
}

// request is what add-checkpoint takes: the old size, the proof from there, the note.
func (w *Witnesses) request(ctx context.Context, c Checkpoint, old int64) ([]byte, error) {
	out := fmt.Appendf(nil, "old %d\n", old)
	if old > 0 && old < c.Size {
		proof, err := tree.New(w.DB).Consistency(ctx, c.Log, old, c.Size)
		if err != nil {
			return nil, err
		}
		for _, hash := range proof {
			out = fmt.Appendf(out, "%s\n", base64.StdEncoding.EncodeToString(hash[:]))
		}
	}
	return fmt.Appendf(out, "\n%s", c.Note), nil
}

func (w *Witnesses) client() *http.Client {
	if w.Client != nil {
		return w.Client
	}
	return &http.Client{
		Timeout:       answerTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (w *Witnesses) remembered(one attest.Witness, log eventstore.Log) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[one.Name()+" "+string(log)]
}

func (w *Witnesses) remember(one attest.Witness, log eventstore.Log, size int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[string]int64{}
	}
	w.seen[one.Name()+" "+string(log)] = size
}
