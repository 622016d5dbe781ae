package alerts_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/projections"
	"muster/projections/alerts"
	"muster/projections/projectionstest"
)

// nothingIsParked fails the test where an event could not be applied.
func (s *scene) nothingIsParked() {
	s.t.Helper()
	var errors []string
	if err := s.db.Select(&errors, `SELECT coalesce(error, '') FROM dead_letters`); err != nil || len(errors) > 0 {
		s.t.Fatalf("events are parked: %q, %v", errors, err)
	}
}

// TestPagesMayBeCutAnywhere: the same log gives the same rows, whatever the
// pages.
func TestPagesMayBeCutAnywhere(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for seed := range uint64(10) {
		s.draw(seed)
	}
	projectionstest.PagesMayBeCutAnywhere(t, s.db, alerts.Projection(s.registry.Decode))
	difference, err := s.stage.Rebuild(t.Context(), alerts.Name, projections.RebuildOptions{StopOnDifference: true}, nil)
	if err != nil || !difference.Empty() {
		t.Errorf("rebuild gives %+v, %v", difference, err)
	}
}

// TestAnAlertWithoutItsRaise parks its stream; the others go on.
func TestAnAlertWithoutItsRaise(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme, lost, healthy := uuid.New(), uuid.New(), uuid.New()
	s.happens(acme, lost, domain.StreamType, domain.Muted{}, domain.Unmuted{})
	s.happens(acme, healthy, domain.StreamType, domain.Raised{Details: domain.Details{Title: "healthy"}})
	s.stage.Settle()
	letters, err := s.stage.DeadLetters().List(t.Context(), uuid.Nil, uuid.Nil, 10)
	if err != nil || len(letters) != 1 || letters[0].Stream != lost || !strings.Contains(letters[0].Error, "is not known") {
		t.Errorf("parked: %+v, %v", letters, err)
	}
	if _, ok, err := s.reader.Alert(t.Context(), acme, healthy); !ok || err != nil {
		t.Errorf("the other one: %v, %v", ok, err)
	}
}
