package topic_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/eventstore/topic"
)

// TestAPageIsDecodedInOrder, however many decode it, before it is applied.
func TestAPageIsDecodedInOrder(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.group.Decode = func(e eventstore.Event) (any, error) { return fmt.Sprint("fact ", e.Position), nil }
	applied := 0
	s.group.Apply = func(_ context.Context, _ *sqlx.Tx, events []topic.Event) error {
		for _, e := range events {
			applied++
			if want := fmt.Sprint("fact ", applied); e.Position != int64(applied) || e.Fact != want {
				t.Errorf("event %d comes with %v, want %s", e.Position, e.Fact, want)
			}
		}
		return nil
	}
	last := s.appendTypes(slices.Repeat([]string{"healthy"}, topic.PageSize+1)...)
	if err := s.group.Advance(t.Context(), s.begin(nil), last); err != nil || applied != topic.PageSize+1 {
		t.Errorf("%d events are applied, %v", applied, err)
	}
}

// TestAnUndecodableEventParksItsStream, at any place of its page, and a panic does not affect the others.
func TestAnUndecodableEventParksItsStream(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() (any, error){
		"error": func() (any, error) { return nil, errSick },
		"panic": func() (any, error) { panic(errSick) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			var sick uuid.UUID
			s.group.Decode = func(e eventstore.Event) (any, error) {
				if e.Type == "sick" {
					sick = e.Stream
					return fail()
				}
				return e.Position, nil
			}
			var applied []any
			s.group.Apply = func(_ context.Context, _ *sqlx.Tx, events []topic.Event) error {
				for _, e := range events {
					applied = append(applied, e.Fact)
				}
				return nil
			}
			s.appendTypes("healthy")
			s.appendTypes("sick", "healthy")
			tx := s.begin(nil)
			if err := s.group.Advance(t.Context(), tx, s.appendTypes("healthy")); err != nil {
				t.Fatal(err)
			}
			s.commit(tx)
			letters, err := s.dead.List(t.Context(), uuid.Nil, uuid.Nil, 10)
			if err != nil || len(letters) != 1 || letters[0].Stream != sick || letters[0].Waiting != 1 {
				t.Errorf("letters are %+v, %v", letters, err)
			}
			if fmt.Sprint(applied) != "[1 4]" {
				t.Errorf("applied are %v, want the events 1 and 4", applied)
			}
			_, err = s.dead.Retry(t.Context(), uuid.Nil, letters[0].ID)
			if err != nil && !errors.Is(err, errSick) {
				t.Error(err)
			}
		})
	}
}
