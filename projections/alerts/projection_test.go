package alerts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/eventstore"
	"muster/projections"
	"muster/projections/alerts"
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
	var log []eventstore.Event
	for e, err := range eventstore.New(s.db).Read(t.Context(), eventstore.Fleet, eventstore.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, e)
	}
	p := alerts.Projection(s.registry.Decode)
	var first map[string][]string
	for _, size := range []int{1, 2, 7, 150, len(log)} {
		tx := s.db.MustBeginTx(t.Context(), nil)
		schema := fmt.Sprintf("pages_of_%d", size)
		tx.MustExec(`CREATE SCHEMA ` + schema + `; SET LOCAL search_path TO ` + schema + `, public;` + p.Schema)
		for page := range slices.Chunk(log, size) {
			if err := p.Apply(t.Context(), tx, page); err != nil {
				t.Fatalf("pages of %d: %v", size, err)
			}
		}
		rows := make(map[string][]string)
		for _, table := range []string{"alerts", "places", "totals"} {
			var all []string
			if err := tx.Select(&all, `SELECT t::text FROM `+table+` t ORDER BY 1`); err != nil || len(all) == 0 {
				t.Fatalf("%d rows of %s, %v", len(all), table, err)
			}
			rows[table] = all
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = rows
		}
		for table := range rows {
			if !slices.Equal(first[table], rows[table]) {
				t.Errorf("%s by pages of %d\n%q\nand one by one\n%q", table, size, rows[table], first[table])
			}
		}
	}
	difference, err := s.stage.Rebuild(t.Context(), alerts.Name, projections.RebuildOptions{StopOnDifference: true}, nil)
	if err != nil || !difference.Empty() {
		t.Errorf("rebuild gives %+v, %v", difference, err)
	}
}

// TestAlertThatNobodyRaised parks its stream; the others go on.
func TestAlertThatNobodyRaised(t *testing.T) {
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
