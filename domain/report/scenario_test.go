package report_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/report"
)

// The people of the scenarios.
var (
	ana  = uuid.MustParse("00000000-0000-7000-8000-00000000000a")
	ben  = uuid.MustParse("00000000-0000-7000-8000-00000000000b")
	cleo = uuid.MustParse("00000000-0000-7000-8000-00000000000c")
)

// noon is when every scenario happens.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// past is a fact and when it happened.
type past struct {
	event report.Event
	at    time.Time
}

// scenario is one sentence about a report: given these facts, when this is decided, then these
// events, or this error, are the outcome.
type scenario struct {
	name  string
	given []past
	when  func(r *report.Report) ([]report.Event, error)
	then  []report.Event
	err   error
}

func (s scenario) run(t *testing.T) {
	t.Helper()
	t.Run(s.name, func(t *testing.T) {
		t.Parallel()
		r := fold(s.given)
		got, err := s.when(r)
		if diff := cmp.Diff(s.then, got); diff != "" && s.err == nil {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		switch {
		case s.err == nil && err != nil:
			t.Errorf("error %v", err)
		case s.err != nil && !sameError(err, s.err):
			t.Errorf("error %v, want %v", err, s.err)
		case s.err != nil && len(got) > 0:
			t.Errorf("events beside an error: %v", got)
		}
	})
}

func sameError(got, want error) bool {
	switch want := any(want).(type) {
	case *report.TransitionError:
		var e *report.TransitionError
		return errors.As(got, &e) && *e == *want
	case *report.NotDueError:
		var e *report.NotDueError
		return errors.As(got, &e) && e.Due.Equal(want.Due)
	case *report.NotRecipientError:
		var e *report.NotRecipientError
		return errors.As(got, &e) && *e == *want
	}
	return got != nil
}

func fold(facts []past) *report.Report {
	r := new(report.Report)
	for _, f := range facts {
		r.Apply(f.event, f.at)
	}
	return r
}

// given makes facts of noon.
func given(events ...report.Event) []past {
	var facts []past
	for _, e := range events {
		facts = append(facts, past{e, noon})
	}
	return facts
}

func queued(recipients ...uuid.UUID) report.Queued {
	return report.Queued{
		Kind: report.Security, Scope: report.Scope{InstanceIDs: []uuid.UUID{}}, ScopeLabel: "All active instances",
		Fingerprint: "f", RequesterID: recipients[0], RecipientIDs: recipients,
	}
}

const (
	digestA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// built is a Ready as a worker offers it; ready as it is recorded.
func built(pdf string) report.Ready {
	return report.Ready{
		AsOf: noon, InputsSHA256: digestA, InputsKey: "inputs/1", PDFSHA256: pdf, PDFKey: "pdf/1", FileName: "security-2026-11-20.pdf",
		SizeBytes: 412_331, Pages: 14, RetentionSeconds: int64((30 * 24 * time.Hour).Seconds()),
	}
}

func ready(recipients ...uuid.UUID) report.Ready {
	e := built(digestB)
	e.RecipientIDs = recipients
	e.ExpiresAt = noon.Add(30 * 24 * time.Hour)
	return e
}

// and adds a later fact without touching the facts it adds to.
func and(facts []past, later past) []past {
	return append(facts[:len(facts):len(facts)], later)
}
