package control

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/assessment"
	"muster/internal/assessment/logged"
)

// binder holds the stored assessments of servers against the log.
type binder struct {
	terms      logged.Terms
	book       *logged.Book
	question   Question
	since      time.Time // earlier ones are only compared with
	upTo       int64     // the last position of the fleet's log that counts
	exceptions []Exception
}

// counts says whether an entry counts in the window, or is only compared with others.
func counts(e logged.Entry, q Question, since time.Time, upTo int64) bool {
	return e.Position <= upTo && e.At.Before(q.To) && (inTable(e, since) || e.Late() && e.RecordedAt.After(since) && e.RecordedAt.Before(q.To))
}

// inTable says whether rows of the time of an entry were read, which is not of after the window.
func inTable(e logged.Entry, since time.Time) bool { return e.At.After(since.Add(-Hold)) }

// looks are the assessments of a server, the oldest first: those that are stored, and those
// that only the log has.
func (b binder) looks(instance uuid.UUID, rows []assessment.Answered) (looks []Look) {
	there := map[uuid.UUID]bool{}
	var unlogged []assessment.Answered
	for _, row := range rows {
		entry, known := b.book.Entry(row.ID)
		switch {
		case known && entry.Position > b.upTo:
			there[row.ID] = true // of after the question
		case known && entry.InstanceID == instance:
			there[row.ID] = true
			looks = append(looks, held(row, entry))
		case known: // of another server, whose log has it
			looks = append(looks, altered(row, ReasonChanged))
		case b.terms.Covers(row.At):
			unlogged = append(unlogged, row)
		default:
			looks = append(looks, altered(row, ReasonNoEvent))
		}
	}
	for e := range b.book.Of(instance) {
		if e.Position <= b.upTo && !there[e.AssessmentID] {
			if l, is := b.absent(e); is {
				looks = append(looks, l)
			}
		}
	}
	logged := looks
	for _, row := range unlogged {
		if l, counts := b.compared(row, logged); counts {
			looks = append(looks, l)
		}
	}
	looks = slices.DeleteFunc(looks, func(l Look) bool { // the entries that were only compared with
		return !l.At.After(b.since) && (!l.Late || !l.RecordedAt.After(b.since))
	})
	slices.SortFunc(looks, func(a, c Look) int { return cmp.Or(a.At.Compare(c.At), bytes.Compare(a.ID[:], c.ID[:])) })
	return looks
}

func stored(row assessment.Answered) Look {
	return Look{ID: row.ID, At: row.At, Answers: row.Answers, SHA256: row.SHA256, Catalogue: row.Catalogue, Threshold: row.Threshold, Objects: row.Objects}
}

func altered(row assessment.Answered, why string) Look {
	l := stored(row)
	l.Answers, l.Altered = nil, why
	return l
}

// held is a row that the log names.
func held(row assessment.Answered, e logged.Entry) Look {
	l := stored(row)
	l.Event, l.RecordedAt, l.Late, l.Catalogue = e.Position, e.RecordedAt, e.Late(), cmp.Or(l.Catalogue, e.Catalogue)
	same := row.At.Equal(e.At) && (e.FactsSHA256 == "" || row.SHA256 == e.FactsSHA256) &&
		(e.AnswersSHA256 == "" || row.AnswersSHA256 == "" || row.AnswersSHA256 == e.AnswersSHA256)
	if !same {
		l.At, l.SHA256, l.Answers, l.Altered = e.At, e.FactsSHA256, nil, ReasonChanged
	}
	return l
}

// absent is an assessment that the log has and the table, as far as it was read, has not.
func (b binder) absent(e logged.Entry) (l Look, is bool) {
	l = Look{ID: e.AssessmentID, At: e.At, SHA256: e.FactsSHA256, Event: e.Position, RecordedAt: e.RecordedAt, Late: e.Late(), Catalogue: e.Catalogue}
	switch {
	case !counts(e, b.question, b.since, b.upTo):
		return l, false
	case !inTable(e, b.since): // of another time; if it was reported so late, only its record counts
	case b.question.Now.Sub(e.At) >= assessment.History:
		l.Erased = true
	default:
		l.Altered = ReasonMissing
	}
	return l, true
}

// compared is an assessment without an event (logged.Unlogged). Anybody with SQL can insert an
// attempt that did not reach the server: it does not count if it would end a worse state.
func (b binder) compared(row assessment.Answered, events []Look) (l Look, counts bool) {
	l, last := stored(row), -1
	for i, other := range events {
		if other.Event > 0 && !other.At.After(l.At) && sameDay(other.At, l.At) && (last < 0 || other.At.After(events[last].At)) {
			last = i
		}
	}
	better := last >= 0 && rank(b.at(l)) < rank(b.at(events[last]))
	switch {
	case last >= 0 && events[last].Altered != "":
		l.Altered = ReasonChanged
	case logged.Unlogged(!row.Unreached, last >= 0, better):
		l.Answers, l.Altered = nil, ReasonUnlogged
	case row.Unreached:
		return l, !better
	}
	return l, true
}

// at is the state that an assessment gives when it is made.
func (b binder) at(l Look) State { return stateAt(l.At, true, &l, b.exceptions).state }

func sameDay(a, b time.Time) bool { return timegrid.Day.Floor(a).Equal(timegrid.Day.Floor(b)) }

// rank orders states from good to bad for the assessed organization.
func rank(s State) int {
	switch s {
	case Failed:
		return 2
	case NotAssessed, ReportedLate, Altered:
		return 1
	case Passed, Accepted:
	}
	return 0
}
