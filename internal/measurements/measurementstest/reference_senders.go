package measurementstest

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
	"muster/internal/measurements"
)

// turn is whose statements of an instance count.
type turn struct {
	sender string
	token  uuid.UUID
	until  time.Time // by the store's clock
	sent   time.Time // the last time of which anybody sent statements
	since  time.Time // before which others did
}

func (t turn) isOf(b measurements.Batch) bool { return t.sender == *b.Sender && t.token == b.Token }

// inTurn takes a sender's turns, and returns the statements that no other sender has counted.
func (s *samples) inTurn(b measurements.Batch, now time.Time) ([]measurements.StatementSample, error) {
	if b.Sender == nil {
		return b.Statements, nil
	}
	var held []uuid.UUID
	for _, v := range b.Statements {
		if t, ok := s.turns[v.Instance]; ok && !t.isOf(b) && t.until.After(now) && !slices.Contains(held, v.Instance) {
			held = append(held, v.Instance)
		}
	}
	if len(held) > 0 {
		return nil, &measurements.HeldError{Instances: held}
	}
	if *b.Sender == "" {
		return b.Statements, nil
	}
	for _, v := range b.Statements {
		t := s.turns[v.Instance]
		if !t.isOf(b) {
			t.sender, t.token, t.since = *b.Sender, b.Token, t.sent
		}
		s.turns[v.Instance] = turn{t.sender, t.token, now.Add(5 * time.Minute), t.sent, t.since}
	}
	var ours []measurements.StatementSample
	for _, v := range b.Statements {
		t := s.turns[v.Instance]
		until := v.At
		if until.After(now) {
			until = now
		}
		if until.After(t.sent) {
			t.sent = instant.Cut(until)
			s.turns[v.Instance] = t
		}
		if !instant.Cut(v.At.Add(-v.Interval)).Before(t.since) {
			ours = append(ours, v)
		}
	}
	return ours, nil
}
