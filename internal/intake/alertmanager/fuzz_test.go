package alertmanager

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake"
	"muster/internal/intake/resolve"
)

func FuzzWebhook(f *testing.F) { fuzz(f, DecodeWebhook) }

func FuzzAlerts(f *testing.F) { fuzz(f, DecodeAlerts) }

// fuzz holds whatever is read of a body against what commands and PostgreSQL
// take. Beside the fixtures, testdata/fuzz has what was found to matter.
func fuzz(f *testing.F, decode func([]byte, time.Time) (*Message, error)) {
	fixtures, err := filepath.Glob("testdata/*.json")
	if err != nil || len(fixtures) == 0 {
		f.Fatal("no fixtures", err)
	}
	for _, name := range fixtures {
		body, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := read(decode(body, receipt))
		if err != nil {
			var bad *intake.UnreadableError
			if !errors.As(err, &bad) {
				t.Fatalf("error is %T", err)
			}
			return
		}
		out := 0
		for reason, n := range m.Dropped {
			if reason != intake.Truncated {
				out += n
			}
		}
		if len(m.Alerts)+out != m.Received {
			t.Fatalf("of %d alerts %d were taken and %d left out", m.Received, len(m.Alerts), out)
		}
		for _, a := range m.Alerts {
			usable(t, a)
		}
		var labels []resolve.Labels
		for _, a := range m.Alerts {
			labels = append(labels, a.Labels)
		}
		directory, err := (&resolve.Resolver{Fleet: oneServer{t}}).Labelled(t.Context(), uuid.Nil, labels)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range labels {
			if found := directory.Find(l, nil); found.Instance == uuid.Nil && found.Database != uuid.Nil {
				t.Fatal("a database without an instance")
			}
		}
	})
}

// oneServer is a fleet that is asked for nothing but what PostgreSQL takes.
type oneServer struct{ t *testing.T }

func (f oneServer) Called(_ context.Context, _ uuid.UUID, references []string) ([]fleet.CalledInstance, error) {
	for _, reference := range references {
		storable(f.t, reference)
	}
	return []fleet.CalledInstance{{ID: uuid.New(), Name: "db01"}}, nil
}

func (f oneServer) DatabasesCalled(_ context.Context, _ uuid.UUID, _ []uuid.UUID, names []string) ([]fleet.CalledDatabase, error) {
	for _, name := range names {
		storable(f.t, name)
	}
	return nil, nil
}

func (oneServer) DatabaseNames(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]string, error) {
	panic("an agent does not assess")
}

func (oneServer) HostsOf(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]string, error) {
	return nil, nil
}

func (oneServer) Engines(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]fleet.Engine, error) {
	return nil, nil
}

func usable(t *testing.T, a Alert) {
	t.Helper()
	for _, kept := range []string{a.Title, a.Description, a.Key} {
		storable(t, kept)
	}
	if a.Title == "" {
		t.Fatal("no title")
	}
	if len(a.Key) != len("alertmanager/")+16 {
		t.Fatalf("key %q", a.Key)
	}
	for _, at := range []time.Time{a.StartsAt, a.SeenAt, a.EndsAt} {
		if _, err := at.MarshalJSON(); err != nil {
			t.Fatal(err)
		}
	}
	if a.StartsAt.IsZero() || a.SeenAt.IsZero() || a.SeenAt.After(receipt) || a.Resolved && a.EndsAt.After(receipt) || a.Resolved && a.StartsAt.After(a.EndsAt) {
		t.Fatalf("starts %s, seen %s, ends %s, resolved %v", a.StartsAt, a.SeenAt, a.EndsAt, a.Resolved)
	}
}

func storable(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		t.Fatalf("PostgreSQL does not take %q", text)
	}
}
