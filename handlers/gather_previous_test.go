package handlers_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/report/snapshot"
)

// ready makes a report of all servers, and returns its id and where its inputs lie.
func (e *estate) ready() (id uuid.UUID, inputs string) {
	e.t.Helper()
	id = e.aReport()
	head, err := e.events.Head(e.t.Context(), e.db, eventstore.Reports)
	if err != nil {
		e.t.Fatal(err)
	}
	e.wait(usecase.Mark{Log: eventstore.Reports, Position: head.Position})
	ready, _ := last[report.Ready](e.scene, id)
	return id, filepath.Join(e.files, ready.InputsKey)
}

// before is what a report of a scope is compared with.
func (e *estate) before(scope report.Scope, again bool) (*snapshot.Previous, error) {
	e.t.Helper()
	in := e.gathering(report.Security, scope)
	in.Again = again
	doc, err := e.inputs().Gather(e.t.Context(), in)
	return doc.Previous, err
}

func TestTheReportBeforeIsOfTheSameScope(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	if before, err := e.before(report.Scope{}, false); before != nil || err != nil {
		t.Errorf("the first of all has %+v before it, %v", before, err)
	}
	first, _ := e.ready()
	second, inputs := e.ready()
	if before, err := e.before(report.Scope{}, false); err != nil || before == nil || before.ReportID != second || len(before.Findings) == 0 {
		t.Fatalf("previous %+v, want the report before with its findings: %v", before, err)
	}
	other := e.register("other", true)
	if before, err := e.before(report.Scope{InstanceIDs: []uuid.UUID{other}}, false); err != nil || before != nil {
		t.Errorf("another scope has %+v before it, %v", before, err)
	}
	if err := os.Remove(inputs); err != nil {
		t.Fatal(err)
	}
	if before, err := e.before(report.Scope{}, false); err != nil || before == nil || before.ReportID != first {
		t.Errorf("without its inputs: %+v %v, want the one before it", before, err)
	}
}

// TestAReportBeforeThatCannotBeRead does not keep the next one from being built.
func TestAReportBeforeThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		becomes func(path string) error
		retried bool // the first attempt fails
	}{
		"damaged": {func(path string) error { return os.WriteFile(path, []byte("no archive"), 0o600) }, false},
		"empty":   {func(path string) error { return os.WriteFile(path, nil, 0o600) }, false},
		"not given": {func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEstate(t)
			_, inputs := e.ready()
			if err := os.Remove(inputs); err != nil {
				t.Fatal(err)
			}
			if err := c.becomes(inputs); err != nil {
				t.Fatal(err)
			}
			if before, err := e.before(report.Scope{}, false); before != nil || (err != nil) != c.retried {
				t.Errorf("at first: %+v %v", before, err)
			}
			if before, err := e.before(report.Scope{}, true); before != nil || err != nil {
				t.Errorf("again: %+v %v", before, err)
			}
		})
	}
}
