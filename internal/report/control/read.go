package control

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/assessment"
	"muster/internal/assessment/logged"
	"muster/internal/report/snapshot"
	"muster/projections"
	"muster/projections/fleet"
)

// Reader answers questions about one organization each.
type Reader struct {
	Assessments *assessment.Store
	Log         *eventstore.Store
	Fleet       *fleet.Reader
	Decode      projections.Decode
	Logged      *logged.Reader // the log's record of assessments
	Backups     BackupDays
}

// Question is the request. Its window is one that Reader accepts as it is.
type Question struct {
	Organization uuid.UUID
	Check        string
	Engine       domain.Engine // of the check; empty: it is about servers of every engine
	Instances    []uuid.UUID   // nil: all
	From, To     time.Time     // To is not after Now
	Now          time.Time
	WithLooks    bool // Item.Looks are kept
	// FromRecord reads the servers from the log, and their answers from the assessments
	// themselves: it trusts no data derived from either.
	FromRecord bool
}

// covers reports whether an exception for a server, or for all, matters to the servers asked for.
func (q Question) covers(instance *uuid.UUID) bool {
	return q.Instances == nil || instance == nil || slices.Contains(q.Instances, *instance)
}

// Evidence is the answer to a Question.
type Evidence struct {
	From, To, AsOf time.Time
	Fleet          eventstore.Head // of the logs that it was made from,
	Organization   eventstore.Head // at AsOf
	Exceptions     []Granted       // for these servers that were in force in the window, the oldest first
	Items          []Item          // by name, then id
}

// Item is one server.
type Item struct {
	Instance uuid.UUID
	Name     string // the last that it had
	Removed  bool
	Course   Course
	Looks    []Look      // in the window and in Hold before it; with WithLooks only
	Late     []Look      // those of them that were recorded too late to count for their time
	Altered  []Look      // those that are not what the log recorded
	Events   []LifeEvent // when it joined, left and was inactive, the oldest first
	Backups  *BackupCounts
}

// Read answers a question.
func (r *Reader) Read(ctx context.Context, q Question) (Evidence, error) {
	e := Evidence{From: q.From, To: q.To, AsOf: q.Now}
	var err error
	if e.Fleet, err = r.Log.Head(ctx, nil, eventstore.Fleet); err != nil {
		return e, err
	}
	if e.Organization, err = r.Log.Head(ctx, nil, eventstore.Organization); err != nil {
		return e, err
	}
	if e.Exceptions, err = r.granted(ctx, q, e.Organization.Position); err != nil {
		return e, err
	}
	servers, err := r.servers(ctx, q, e.Fleet.Position)
	if err != nil {
		return e, err
	}
	if q.Check == Backups {
		e.Items, err = r.backupItems(ctx, q, servers)
	} else {
		e.Items, err = r.items(ctx, q, servers, e.Exceptions, e.Fleet.Position)
	}
	if err != nil {
		return e, err
	}
	slices.SortFunc(e.Items, func(a, b Item) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), bytes.Compare(a.Instance[:], b.Instance[:]))
	})
	return e, nil
}

// How many servers' assessments are held in memory: those of so many servers, as long as the log
// has no more events of them than that. One server may have more: 38,000, where an attempt every
// quarter of an hour never reaches it.
const (
	serversAtOnce = 25
	eventsAtOnce  = 25_000
)

// together are servers whose assessments are read at once.
func (r *Reader) together(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (all [][]uuid.UUID, err error) {
	var some []uuid.UUID
	var events int64
	for chunk := range slices.Chunk(ids, serversAtOnce) {
		of, err := r.Logged.Events(ctx, organization, chunk)
		if err != nil {
			return nil, err
		}
		for _, id := range chunk {
			if len(some) == serversAtOnce || len(some) > 0 && events+of[id] > eventsAtOnce {
				all, some, events = append(all, some), nil, 0
			}
			some, events = append(some, id), events+of[id]
		}
	}
	if len(some) > 0 {
		all = append(all, some)
	}
	return all, nil
}

// items makes the course of each server, some at a time.
func (r *Reader) items(ctx context.Context, q Question, servers map[uuid.UUID]*server, granted []Granted, upTo int64) (items []Item, err error) {
	terms, err := r.Logged.Terms(ctx)
	if err != nil {
		return nil, err
	}
	ids := slices.SortedFunc(maps.Keys(servers), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	parts, err := r.together(ctx, q.Organization, ids)
	if err != nil {
		return nil, err
	}
	for _, some := range parts {
		stored := map[uuid.UUID]bool{}
		rows := map[uuid.UUID][]assessment.Answered{}
		// The day before has the assessments by which those without an event are judged.
		since := q.From.Add(-Hold)
		err := r.Assessments.EachAnswer(ctx, assessment.AnswerQuery{
			Organization: q.Organization, Instances: some, Check: q.Check, After: since.Add(-Hold), Before: q.To, FromFacts: q.FromRecord, FactsUntil: terms.Before.Add(logged.Ahead),
		}, func(a assessment.Answered) error {
			rows[a.Instance], stored[a.ID] = append(rows[a.Instance], a), true
			return nil
		})
		if err != nil {
			return nil, err
		}
		book, err := r.Logged.Book(ctx, terms, q.Organization, some, func(e logged.Entry) bool { return stored[e.AssessmentID] || counts(e, q, since, upTo) }) // after the rows: each of them has its event
		if err != nil {
			return nil, err
		}
		for _, id := range some {
			about := about(granted, id)
			looks := binder{terms, book, q, since, upTo, about}.looks(id, rows[id])
			if namesObject(about) {
				if err := r.nameObjects(ctx, q, looks); err != nil {
					return nil, err
				}
			}
			if item, in := servers[id].item(id, q, looks, about); in {
				if n := len(item.Altered); n > 0 {
					r.Logged.Tell(n, id, item.Altered[0].At)
				}
				items = append(items, item)
			}
		}
	}
	return items, nil
}

// nameObjects reads which objects fail, where the facts were not read with the answers. Those that
// are not the facts that the log names, by then, are altered.
func (r *Reader) nameObjects(ctx context.Context, q Question, looks []Look) error {
	for i := range looks {
		l := &looks[i]
		fails := l.Altered == "" && slices.ContainsFunc(l.Answers, func(a assessment.Answer) bool { return a.Status == snapshot.StatusFail })
		if !fails || l.Objects != nil {
			continue
		}
		objects, sha256, err := r.Assessments.FailingObjects(ctx, q.Organization, l.ID, q.Check)
		var unreadable *assessment.UnreadableError
		switch {
		case errors.As(err, &unreadable), err == nil && sha256 != l.SHA256:
			l.Answers, l.Altered = nil, ReasonChanged
		case err != nil:
			return err
		default:
			l.Objects = objects
		}
	}
	return nil
}

func about(granted []Granted, instance uuid.UUID) (out []Exception) {
	for _, g := range granted {
		if g.Instance == nil || *g.Instance == instance {
			out = append(out, g.Exception)
		}
	}
	return out
}

func namesObject(exceptions []Exception) bool {
	return slices.ContainsFunc(exceptions, func(x Exception) bool { return x.Object != "" })
}
