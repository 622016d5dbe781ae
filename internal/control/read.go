package control

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/assessment"
	"muster/internal/snapshot"
	"muster/projections"
	"muster/projections/fleet"
)

// Reader answers questions about one organization each.
type Reader struct {
	Assessments *assessment.Store
	Log         *eventstore.Store
	Fleet       *fleet.Reader
	Decode      projections.Decode
}

// Question is what is asked. Its window is one that Reader takes as it is.
type Question struct {
	Organization uuid.UUID
	Check        string
	Engine       domain.Engine // of the check
	Instances    []uuid.UUID   // nil: all
	From, To     time.Time     // To is not after Now
	Now          time.Time
	WithLooks    bool // Item.Looks are kept
	// FromRecord reads which servers there were from the log, and what they answered from
	// the assessments themselves: nothing that was made of either is trusted.
	FromRecord bool
}

// Evidence is the answer to a Question.
type Evidence struct {
	From, To, AsOf time.Time
	Fleet          eventstore.Head // of the logs that it was made from,
	Organization   eventstore.Head // at AsOf
	Exceptions     []Granted       // that were in force in the window, the oldest first
	Items          []Item          // by name, then id
}

// Item is one server.
type Item struct {
	Instance uuid.UUID
	Name     string // the last that it had
	Removed  bool
	Course   Course
	Looks    []Look // in the window and in Hold before it; with WithLooks only
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
	if e.Items, err = r.items(ctx, q, servers, e.Exceptions); err != nil {
		return e, err
	}
	slices.SortFunc(e.Items, func(a, b Item) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), bytes.Compare(a.Instance[:], b.Instance[:]))
	})
	return e, nil
}

// items makes the course of each server. Those where an exception names an object wait
// until all assessments are read, because their objects are read one by one.
func (r *Reader) items(ctx context.Context, q Question, servers map[uuid.UUID]*server, granted []Granted) (items []Item, err error) {
	var waiting []uuid.UUID
	looks := map[uuid.UUID][]Look{} // of the server at hand, and of those that wait
	finish := func(id uuid.UUID) {
		if s := servers[id]; s != nil {
			if item, in := s.item(id, q, looks[id], about(granted, id)); in {
				items = append(items, item)
			}
		}
		delete(looks, id)
		delete(servers, id)
	}
	current := uuid.Nil
	turn := func(next uuid.UUID) {
		if current != uuid.Nil && current != next {
			if namesObject(about(granted, current)) {
				waiting = append(waiting, current)
			} else {
				finish(current)
			}
		}
		current = next
	}
	err = r.Assessments.EachAnswer(ctx, assessment.AnswerQuery{
		Organization: q.Organization, Instances: q.Instances, Check: q.Check, After: q.From.Add(-Hold), Before: q.To, FromFacts: q.FromRecord,
	}, func(a assessment.Answered) error {
		turn(a.Instance)
		if servers[a.Instance] != nil {
			looks[a.Instance] = append(looks[a.Instance], Look{ID: a.ID, At: a.At, Answers: a.Answers})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	turn(uuid.Nil)
	for _, id := range waiting {
		if err := r.nameObjects(ctx, q, looks[id]); err != nil {
			return nil, err
		}
		finish(id)
	}
	for id := range servers { // without an assessment
		finish(id)
	}
	return items, nil
}

// nameObjects reads which objects fail.
func (r *Reader) nameObjects(ctx context.Context, q Question, looks []Look) (err error) {
	for i := range looks {
		fails := slices.ContainsFunc(looks[i].Answers, func(a assessment.Answer) bool { return a.Status == snapshot.StatusFail })
		if !fails {
			continue
		}
		if looks[i].Objects, err = r.Assessments.FailingObjects(ctx, q.Organization, looks[i].ID, q.Check); err != nil {
			return err
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
