package logged

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/assessment"
	"muster/internal/secrets"
	"muster/projections"
)

// Reader reads what the log says of assessments.
type Reader struct {
	Facts  *assessment.Store
	Log    *eventstore.Store
	Decode projections.Decode
	// Altered is called for used assessments that differ from those in the log; nil: it is not
	// called.
	Altered func(sentence string)
}

// Tell reports n assessments that differ from those in the log, and names one.
func (r *Reader) Tell(n int, instance uuid.UUID, at time.Time) {
	if r.Altered != nil && n > 0 {
		r.Altered(fmt.Sprintf("%d assessments are not the ones that the log recorded; one is of instance %s at %s", n, instance, at.UTC().Format(time.RFC3339)))
	}
}

// Entry is what the log says of an assessment.
type Entry struct {
	fleet.AssessmentKept // of a program from before without digest of the answers, catalogue and mark
	Position             int64
	RecordedAt           time.Time
}

// Is says whether a stored assessment is the one that the log names.
func (e Entry) Is(row assessment.Stored) bool {
	return row.ID == e.AssessmentID && row.Instance == e.InstanceID && row.At.Equal(e.At) && (e.FactsSHA256 == "" || row.SHA256 == e.FactsSHA256)
}

// Late says whether it was recorded too late to count for its own time.
func (e Entry) Late() bool { return e.AssessmentKept.Late(e.RecordedAt) }

// Terms are what entries are read by.
type Terms struct {
	marks *secrets.Marks
	// Before is up to when an assessment may have no event: zero: never.
	Before time.Time
}

// Covers says whether an assessment of a time may have no event, because an earlier program
// stored it.
func (t Terms) Covers(at time.Time) bool { return !t.Before.IsZero() && !at.After(t.Before) }

// Terms reads them.
func (r *Reader) Terms(ctx context.Context) (t Terms, err error) {
	if t.marks, err = r.Facts.Marks(ctx); err != nil {
		return t, err
	}
	until, at, open := t.marks.Until(string(eventstore.Fleet))
	if open { // whatever is recorded now may be such a program's
		t.Before = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
		return t, nil
	}
	t.Before = at // what such a program kept behind the last event of its time has none
	for e, err := range r.Log.Read(ctx, eventstore.Fleet, eventstore.Filter{After: until - 1, UpTo: max(until, 1)}) {
		if err != nil {
			return t, err
		}
		if e.Position <= until && e.RecordedAt.After(t.Before) {
			t.Before = e.RecordedAt
		}
	}
	return t, nil
}

// Book is the log's record of the requested assessments of some servers.
type Book struct {
	entries map[uuid.UUID]Entry       // by assessment
	of      map[uuid.UUID][]uuid.UUID // assessments by instance
	first   map[uuid.UUID]int64       // the position of the first event of each, also of those that nobody asks about
	wanted  func(e Entry) bool
}

func newBook(wanted func(e Entry) bool) *Book {
	return &Book{map[uuid.UUID]Entry{}, map[uuid.UUID][]uuid.UUID{}, map[uuid.UUID]int64{}, wanted}
}

// Entry is that of an assessment.
func (b *Book) Entry(id uuid.UUID) (Entry, bool) {
	e, ok := b.entries[id]
	return e, ok
}

// Of are those of a server, in no order.
func (b *Book) Of(instance uuid.UUID) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, id := range b.of[instance] {
			if !yield(b.entries[id]) {
				return
			}
		}
	}
}

// Book reads the log's record of the assessments of some servers, and keeps the requested ones:
// an unreachable server has 38,000 of them.
func (r *Reader) Book(ctx context.Context, t Terms, organization uuid.UUID, instances []uuid.UUID, wanted func(e Entry) bool) (*Book, error) {
	b := newBook(wanted)
	for event, err := range r.Log.LoadEach(ctx, organization, streamsOf(instances...)) {
		if err != nil {
			return nil, err
		}
		e, ok, err := r.entry(t, organization, event)
		if err != nil {
			return nil, err
		}
		if ok {
			b.add(e)
		}
	}
	return b, nil
}

// Events is how many events the log has of the assessments of some servers.
func (r *Reader) Events(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]int64, error) {
	last, err := r.Log.LoadNewest(ctx, organization, streamsOf(instances...), 1)
	of := map[uuid.UUID]int64{}
	for _, id := range instances {
		for _, e := range last {
			if slices.Contains(streamsOf(id), e.Stream) {
				of[id] += e.Version
			}
		}
	}
	return of, err
}

// streamsOf are those that have an event of each assessment of some servers.
func streamsOf(instances ...uuid.UUID) []uuid.UUID {
	streams := make([]uuid.UUID, 0, 2*len(instances))
	for _, id := range instances {
		streams = append(streams, fleet.KeptOf(id), fleet.AssessmentsOf(id))
	}
	return streams
}

// add keeps the first that the log says of an assessment, if it is wanted.
func (b *Book) add(e Entry) {
	if first, is := b.first[e.AssessmentID]; is && first <= e.Position {
		return
	}
	b.first[e.AssessmentID] = e.Position
	if known, is := b.entries[e.AssessmentID]; is { // a copy of the event came first
		of := b.of[known.InstanceID]
		b.of[known.InstanceID] = slices.DeleteFunc(of, func(other uuid.UUID) bool { return other == e.AssessmentID })
		delete(b.entries, e.AssessmentID)
	}
	if b.wanted(e) {
		b.entries[e.AssessmentID] = e
		b.of[e.InstanceID] = append(b.of[e.InstanceID], e.AssessmentID)
	}
}

// replace takes what another book has of a server.
func (b *Book) replace(instance uuid.UUID, from *Book) {
	for _, id := range b.of[instance] {
		delete(b.entries, id)
	}
	b.of[instance] = from.of[instance]
	for _, id := range b.of[instance] {
		b.entries[id] = from.entries[id]
	}
}

// entry reads an event; ok is false if the program did not make it, or if it has another
// subject. Only the log fleet counts: the same position of another log may lie before marks.
func (r *Reader) entry(t Terms, organization uuid.UUID, event eventstore.Event) (e Entry, ok bool, err error) {
	if event.Log != eventstore.Fleet || event.StreamType != fleet.KeptStream && event.StreamType != fleet.AssessmentStream {
		return e, false, nil
	}
	fact, err := projections.Fact[fleet.Event](r.Decode, event, "an assessment")
	if err != nil {
		return e, false, fmt.Errorf("event %d of the fleet: %w", event.Position, err)
	}
	e.Position, e.RecordedAt = event.Position, event.RecordedAt
	at := secrets.Place{Log: string(eventstore.Fleet), Position: event.Position}
	switch fact := fact.(type) {
	case fleet.AssessmentKept:
		e.AssessmentKept = fact
	case fleet.InstanceAssessed:
		e.AssessmentKept = fact.Kept()
	default:
		return e, false, nil
	}
	e.At = e.At.UTC()
	err = t.marks.Marked(secrets.MarkAssessment, assessment.MarkedText(organization, e.AssessmentKept), e.Mark, at)
	var untrue *secrets.MarkError
	switch {
	case err == nil || t.marks.Before(at):
		return e, true, nil
	case errors.As(err, &untrue):
		return e, false, nil
	}
	return e, false, err
}
