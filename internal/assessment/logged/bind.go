package logged

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/assessment"
	"muster/internal/report/snapshot"
)

// Used is the assessment of a server that a report uses.
type Used struct {
	assessment.Stored // without an ID there is none

	Unreadable bool // its facts cannot be decoded
	Reached    bool
	Classified string        // assessment.Classified.SHA256; "": the report does not ask what is known of the databases
	MaxAge     time.Duration // how old one may be that is used instead of an attempt that did not reach the server
}

// since is the time after which the log may have no other that reached the server.
func (u Used) since() time.Time {
	if u.ID != uuid.Nil && !u.Reached { // what was found in the last day would have been used
		return u.At.Add(-u.MaxAge)
	}
	return u.At
}

// Alteration is an assessment that differs from the one in the log.
type Alteration struct {
	Instance uuid.UUID
	At       time.Time // of the assessment
	Position int64     // of its event; 0: it has none
	Gone     bool      // the log has it, and the database does not

	Classified bool // what is altered is the classification of databases that was known then
}

const (
	// newest is how many events of a stream Bind reads at first: nearly always the assessment
	// that a report uses is the newest, and the one before it is hours older.
	newest = 2
	// newestOfADay covers the day in which a server may not have been reached, at an attempt
	// every quarter of an hour; of serversAtOnce they are in memory.
	newestOfADay  = 128
	serversAtOnce = 25
)

// Bind compares the assessments that a report uses with the log: each has to be the one that
// its event names, and the log may have no later one that reached the server and is gone from
// the table. The classification of databases that the report uses has to match an event since
// that assessment. It returns the log's record of each, by instance. now is when facts that are
// older than assessment.History count as erased. For an assessment that a program from before
// marks stored, the entry may be the last one in the log, or none.
func (r *Reader) Bind(ctx context.Context, organization uuid.UUID, used []Used, now time.Time) (map[uuid.UUID]Entry, []Alteration, error) {
	t, err := r.Terms(ctx)
	if err != nil {
		return nil, nil, err
	}
	book, err := r.read(ctx, t, organization, used)
	if err != nil {
		return nil, nil, err
	}
	bound, later := map[uuid.UUID]Entry{}, map[uuid.UUID]Entry{}
	var altered []Alteration
	var unlogged []Used
	for _, u := range used {
		e, known := book.Entry(u.ID)
		switch {
		case u.ID == uuid.Nil:
		case known && !u.Unreadable && e.Is(u.Stored):
			bound[u.Instance] = e
		case !known && !u.Unreadable && t.Covers(u.At):
			unlogged = append(unlogged, u)
		default:
			altered = append(altered, Alteration{Instance: u.Instance, At: u.At, Position: e.Position})
			continue
		}
		if at, holds := classificationHolds(t, book, u); !holds {
			altered = append(altered, Alteration{Instance: u.Instance, At: u.At, Position: at, Classified: true})
		}
		for e := range book.Of(u.Instance) {
			switch {
			case !e.Reached || !e.At.After(u.since()) || now.Sub(e.At) >= assessment.History:
			case !e.At.After(u.At): // it would have been used instead of an attempt
				altered = append(altered, Alteration{Instance: e.InstanceID, At: e.At, Position: e.Position})
			default:
				later[e.AssessmentID] = e
			}
		}
	}
	gone, err := r.gone(ctx, organization, later)
	if err != nil {
		return nil, nil, err
	}
	differ, err := r.differ(ctx, organization, unlogged, book)
	if altered = slices.Concat(altered, gone, differ); len(altered) > 0 {
		r.Tell(len(altered), altered[0].Instance, altered[0].At)
	}
	return bound, altered, err
}

// classificationHolds reports whether the classification of an instance's databases that a
// report uses is the one that the log recorded with its assessment, or since. at is the last
// event with such a record. Programs from before recorded no digest: if one of them wrote the
// assessment or a later one, nothing is known against the classification.
func classificationHolds(t Terms, book *Book, u Used) (at int64, holds bool) {
	used, known := book.Entry(u.ID)
	if u.Classified == "" || !known && t.Covers(u.At) && u.Classified != assessment.Undecodable {
		return 0, true
	}
	for e := range book.Of(u.Instance) {
		if e.Position < used.Position {
			continue
		}
		if e.ClassifiedSHA256 == u.Classified || e.ClassifiedSHA256 == "" && u.Classified != assessment.Undecodable {
			return 0, true
		}
		at = max(at, e.Position)
	}
	return at, false
}

// Unlogged judges an assessment without an event, which a program from before marks stored.
// Such a program left the event out if the assessment had the same result as the last one of
// its day in the log. An attempt that did not reach the server had no event. last says whether
// there is such a last one, and better whether the assessment shows the server in a better
// state.
func Unlogged(reached, last, better bool) (altered bool) { return reached && (!last || better) }

// differ are those without an event that are altered (Unlogged), or whose last one is.
func (r *Reader) differ(ctx context.Context, organization uuid.UUID, unlogged []Used, book *Book) (out []Alteration, err error) {
	for _, u := range unlogged {
		mine, _, err := r.facts(ctx, organization, u.ID)
		if err != nil {
			return nil, err
		}
		last, ok := lastOfDay(book.Of(u.Instance), u.At)
		switch {
		case mine == nil, !ok && Unlogged(mine.Outcome != snapshot.OutcomeUnreachable, false, false):
			out = append(out, Alteration{Instance: u.Instance, At: u.At})
			continue
		case !ok:
			continue
		}
		logged, there, err := r.facts(ctx, organization, last.AssessmentID)
		switch {
		case err != nil:
			return nil, err
		case logged == nil || !last.Is(logged.Stored):
			out = append(out, Alteration{Instance: u.Instance, At: last.At, Position: last.Position, Gone: !there})
		case Unlogged(mine.Outcome != snapshot.OutcomeUnreachable, true, assessment.Better(*mine.Assessment, *logged.Assessment)):
			out = append(out, Alteration{Instance: u.Instance, At: u.At})
		}
	}
	return out, nil
}

// facts reads an assessment; nil if it does not exist, or cannot be decoded.
func (r *Reader) facts(ctx context.Context, organization, id uuid.UUID) (kept *assessment.Kept, there bool, err error) {
	kept, err = r.Facts.Assessment(ctx, organization, id)
	var unreadable *assessment.UnreadableError
	if errors.As(err, &unreadable) {
		return nil, true, nil //nolint:nilerr // it is there, and is none that the log names
	}
	return kept, kept != nil, err
}

// lastOfDay is the last entry of a day (UTC) up to a time on it.
func lastOfDay(entries iter.Seq[Entry], at time.Time) (last Entry, ok bool) {
	for e := range entries {
		if e.ofDay(at) && (!ok || e.At.After(last.At)) {
			last, ok = e, true
		}
	}
	return last, ok
}

// ofDay says whether it reached the server on the day (UTC) of a time, and not after that.
func (e Entry) ofDay(at time.Time) bool {
	return e.Reached && !e.At.After(at) && !e.At.Before(timegrid.Day.Floor(at))
}

// gone are those later entries that the table does not have as the log has them, or that would
// not be found there. An assessment that was recorded while the report was gathered is there.
func (r *Reader) gone(ctx context.Context, organization uuid.UUID, later map[uuid.UUID]Entry) (out []Alteration, err error) {
	if len(later) == 0 {
		return nil, nil
	}
	ids := make([]uuid.UUID, 0, len(later))
	for id := range later {
		ids = append(ids, id)
	}
	rows, err := r.Facts.Rows(ctx, organization, ids)
	if err != nil {
		return nil, err
	}
	for id, e := range later {
		row, there := rows[id]
		if !there || !e.Is(row.Stored) || row.Reached != e.Reached {
			out = append(out, Alteration{Instance: e.InstanceID, At: e.At, Position: e.Position, Gone: !there})
		}
	}
	return out, nil
}

// read reads what decides about what a report uses: of nearly all servers the newest events, of
// the others more.
func (r *Reader) read(ctx context.Context, t Terms, organization uuid.UUID, used []Used) (*Book, error) {
	book, open, err := r.newestOf(ctx, t, organization, used, newest)
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(open, serversAtOnce) {
		more, open, err := r.newestOf(ctx, t, organization, some, newestOfADay)
		if err != nil {
			return nil, err
		}
		for _, u := range some {
			book.replace(u.Instance, more)
		}
		for _, u := range open {
			all, err := r.Book(ctx, t, organization, []uuid.UUID{u.Instance}, u.wants)
			if err != nil {
				return nil, err
			}
			book.replace(u.Instance, all)
		}
	}
	return book, nil
}

// newestOf reads at most n of the newest events of each stream. open are those that these
// events do not decide: the used assessment is not among them, an earlier one may have a later
// time, or may be the first event with a record of the databases.
func (r *Reader) newestOf(ctx context.Context, t Terms, organization uuid.UUID, used []Used, n int) (b *Book, open []Used, err error) {
	instances, since := make([]uuid.UUID, len(used)), map[uuid.UUID]time.Time{}
	for i, u := range used {
		instances[i] = u.Instance
		for _, stream := range streamsOf(u.Instance) {
			since[stream] = u.since().Add(-Ahead)
		}
	}
	events, err := r.Log.LoadNewest(ctx, organization, streamsOf(instances...), n)
	if err != nil {
		return nil, nil, err
	}
	b = newBook(func(Entry) bool { return true })
	oldest := map[uuid.UUID]time.Time{} // by stream
	for _, event := range events {
		if _, known := oldest[event.Stream]; !known {
			oldest[event.Stream] = event.RecordedAt
			if event.Version == 1 { // there is none before
				oldest[event.Stream] = time.Time{}
			}
		}
		if event.RecordedAt.Before(since[event.Stream]) {
			continue // what it tells of came before the assessment that is used
		}
		e, ok, err := r.entry(t, organization, event)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			b.add(e)
		}
	}
	for _, u := range used {
		e, known := b.Entry(u.ID)
		early := slices.ContainsFunc(streamsOf(u.Instance), func(id uuid.UUID) bool { return oldest[id].After(since[id]) })
		if !known || early || u.Classified != "" && e.ClassifiedSHA256 != u.Classified {
			open = append(open, u)
		}
	}
	return b, open, nil
}

// Ahead is how far the time of an assessment that a feed sends may lie behind that of its
// event.
const Ahead = 10 * time.Minute

// wants says whether an entry may decide about what is used.
func (u Used) wants(e Entry) bool {
	return e.AssessmentID == u.ID || !e.RecordedAt.Before(u.since().Add(-Ahead)) || e.Reached && e.At.After(u.since()) || e.ofDay(u.At)
}
