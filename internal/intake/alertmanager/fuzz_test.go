package alertmanager

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
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
			var bad *DecodeError
			if !errors.As(err, &bad) {
				t.Fatalf("error is %T", err)
			}
			return
		}
		out := 0
		for reason, n := range m.Dropped {
			if reason != Truncated {
				out += n
			}
		}
		if len(m.Alerts)+out != m.Received {
			t.Fatalf("of %d alerts %d were taken and %d left out", m.Received, len(m.Alerts), out)
		}
		for _, a := range m.Alerts {
			usable(t, a)
		}
		instances, databases := References(m.Alerts)
		for _, reference := range append(instances, databases...) {
			storable(t, reference)
		}
		found := NewFleet([]Instance{{ID: uuid.New(), Name: "db01"}}, nil)
		for _, a := range m.Alerts {
			if instance, database := found.Find(a.Place); instance == uuid.Nil && database != uuid.Nil {
				t.Fatal("a database without an instance")
			}
		}
	})
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
