package eventstore

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/google/uuid"
)

var (
	//go:embed sql/ends.sql
	selectEnds string
	//go:embed sql/streams.sql
	selectStreams string
	//go:embed sql/predecessor.sql
	selectPredecessor string
)

// VerifyOptions says what a verification looks at.
type VerifyOptions struct {
	// Organization limits it to what this organization may see: the events of
	// others are opaque links of the chain. uuid.Nil checks every event's contents.
	Organization uuid.UUID
	// Witness is a kept head of this log. Without one, a chain that was rewritten from some
	// event to the end verifies.
	Witness *Head
	// Progress is called now and then with the position reached and the last one.
	Progress func(position, last int64)
}

// OtherLogError reports that a log was to be compared with a witness of another.
type OtherLogError struct {
	Log     Log
	Witness Head
}

func (e *OtherLogError) Error() string {
	return fmt.Sprintf("the witness %s is not one of log %s", e.Witness, e.Log)
}

// progressEvery is how many events lie between two calls of Progress.
const progressEvery = 10_000

// Verify checks a log from its first event to the head of now: contents against
// digests, digests against the chain, positions and versions for gaps, the last
// event against the head row and all of it against the witness. What does not
// fit is in the report; the error says only that it could not be made. Errors:
// *OtherLogError.
func (s *Store) Verify(ctx context.Context, log Log, options VerifyOptions) (Verification, error) {
	if w := options.Witness; w != nil && w.Log != log {
		return Verification{}, &OtherLogError{Log: log, Witness: *w}
	}
	head, last, err := s.ends(ctx, log)
	if err != nil {
		return Verification{}, err
	}
	c := newChain(log, options.Witness)
	var suspects []link
	err = s.scan(ctx, log, options.Organization, 0, max(head.Position, last.Position), func(l *link) error {
		before := c.report.Misfits
		c.addLink(l)
		if c.report.Misfits > before && len(suspects) < maxSuspects {
			suspects = append(suspects, link{Event: Event{Position: l.Position, RecordedAt: l.RecordedAt,
				Digest: append([]byte(nil), l.Digest...), Hash: append([]byte(nil), l.Hash...)}})
		}
		if options.Progress != nil && c.report.Events%progressEvery == 0 {
			options.Progress(l.Position, head.Position)
		}
		return nil
	})
	if err != nil {
		return Verification{}, fmt.Errorf("verify log %s: %w", log, err)
	}
	if err := s.missingStreams(ctx, head, options.Organization, c); err != nil {
		return Verification{}, fmt.Errorf("verify streams of log %s: %w", log, err)
	}
	report := c.finish(head)
	if err := s.traceMoved(ctx, report, suspects); err != nil {
		return Verification{}, fmt.Errorf("verify order of log %s: %w", log, err)
	}
	if options.Progress != nil {
		options.Progress(head.Position, head.Position)
	}
	return *report, nil
}

// missingStreams names streams that began and have no events left.
func (s *Store) missingStreams(ctx context.Context, head Head, organization uuid.UUID, c *chain) error {
	rows, err := s.db.QueryContext(ctx, selectStreams, string(head.Log), head.Position, organization)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		f := Mismatch{Misfit: DeletedStream, Version: 1}
		if err := rows.Scan(&f.Stream, &f.Organization, &f.StreamType, &f.Position); err != nil {
			return err
		}
		if _, ok := c.versions[f.Stream]; !ok {
			f.Detail = "it began here, and none of its events is left"
			c.report.addFinding(f)
		}
	}
	return rows.Err()
}

// maxSuspects bounds the search for where moved events came from.
const maxSuspects = 20

// traceMoved looks for the place that an event out of order came from: its hash
// still follows from the hash of the event that it was recorded behind.
func (s *Store) traceMoved(ctx context.Context, report *Verification, suspects []link) error {
	for _, suspect := range suspects {
		for i := range report.Findings {
			f := &report.Findings[i]
			if f.Misfit != Unchained || f.Position != suspect.Position {
				continue
			}
			var behind int64
			err := s.db.QueryRowxContext(ctx, selectPredecessor, string(report.Log),
				suspect.Hash, suspect.Digest, suspect.RecordedAt).Scan(&behind)
			if err != nil {
				return err
			}
			if behind >= 0 {
				f.Misfit = Reordered
				f.Detail = fmt.Sprintf("it was recorded behind the event that is now at position %d", behind)
			}
		}
	}
	return nil
}
