package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	domain "muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/ingest"
	"muster/internal/httpapi/wire"
	"muster/internal/intake"
	"muster/internal/intake/feed"
	"muster/internal/intake/resolve"
	"muster/internal/intake/sqltext"
	"muster/internal/measurements"
	"muster/internal/watch"
)

// FuzzSamples reads a body as the door does: by the contract, by the generated types,
// by the rules. Every name in it is one that is known. What passes the contract fits
// the types, what is refused says where, and what is taken is what the store asks for.
func FuzzSamples(f *testing.F) {
	c, err := ourContract()
	if err != nil {
		f.Fatal(err)
	}
	schema := c.Routes["POST /ingest/v1/samples"].Body().Content["application/json"].Schema.Value
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	example, err := json.Marshal(schema.Example)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Fuzz(func(t *testing.T, body []byte) {
		if wrong, p := contract.CheckJSON(schema, body); p != nil || len(wrong) > 0 {
			return
		}
		var decoded any
		if err := json.Unmarshal(body, &decoded); err != nil {
			t.Fatalf("fits the contract and is no JSON: %v", err)
		}
		var samples api.SampleBatch
		if err := json.Unmarshal(body, &samples); err != nil {
			t.Fatalf("fits the contract and not the types: %v", err)
		}
		kept := &keptBatch{}
		doors := feed.Doors{
			Places: &resolve.Resolver{Keys: everythingKnown{}, Fleet: everythingKnown{}}, Store: kept, Texts: everythingKnown{}, Now: func() time.Time { return now },
		}
		_, err := doors.TakeSamples(t.Context(), intake.Caller{}, ingest.SampleItems(&samples))
		batch := kept.Batch
		if err != nil {
			refusedAt(t, decoded, err)
			return
		}
		if n := len(wire.Value(samples.Hosts)) + len(wire.Value(samples.Sessions)) + len(wire.Value(samples.Statements)); batch.Len() != n {
			t.Fatalf("of %d samples there are %d", n, batch.Len())
		}
		for _, h := range batch.Hosts {
			hostInBounds(t, h)
			timeInBounds(t, h.At, now)
		}
		for _, s := range batch.Sessions {
			timeInBounds(t, s.At, now)
			intervalInBounds(t, s.Interval)
			counts := []int64{s.Active, s.Idle, s.Waiting, s.IdleInTransaction, s.Other}
			for name, n := range s.Waits {
				textInBounds(t, name, 200)
				counts = append(counts, n)
			}
			for _, n := range counts {
				inBounds(t, float64(n), 1<<40)
			}
		}
		for _, s := range batch.Statements {
			timeInBounds(t, s.At, now)
			intervalInBounds(t, s.Interval)
			if s.BusyMs != nil {
				inBounds(t, *s.BusyMs, 1e15)
			}
			seen := map[string]bool{}
			for _, q := range s.Statements {
				textInBounds(t, q.Key, 200)
				if seen[q.Key] {
					t.Fatalf("%q is there twice", q.Key)
				}
				seen[q.Key] = true
				inBounds(t, float64(q.Calls), 1<<40)
				inBounds(t, q.TotalMs, 1e15)
				if q.MaxMs != nil {
					inBounds(t, *q.MaxMs, 1e15)
				}
				if len(q.Text) > sqltext.MaxBytes || q.Text != engine.Normalize(s.Engine, q.Text) {
					t.Fatalf("kept is %q", q.Text)
				}
			}
		}
	})
}

// everythingKnown is a fleet in which there is whatever samples name.
type everythingKnown struct{}

func (everythingKnown) FindPlaces(_ context.Context, _ uuid.UUID, names []inventory.PlaceName) ([]inventory.Place, error) {
	found := make([]inventory.Place, len(names))
	for i, n := range names {
		found[i].Instance = uuid.NewSHA1(uuid.NameSpaceOID, []byte(*n.Instance))
		if n.Database != nil {
			found[i].Database = uuid.NewSHA1(found[i].Instance, []byte(*n.Database))
		}
	}
	return found, nil
}

func (everythingKnown) Engines(_ context.Context, _ uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]domain.Engine, error) {
	engines := map[uuid.UUID]domain.Engine{}
	for _, id := range instances {
		engines[id] = domain.PostgreSQL
	}
	return engines, nil
}

func (everythingKnown) HostsOf(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]string, error) {
	return nil, nil
}

func (everythingKnown) DatabaseNames(_ context.Context, _ uuid.UUID, databases []uuid.UUID) (map[uuid.UUID]string, error) {
	names := map[uuid.UUID]string{}
	for _, id := range databases {
		names[id] = "d"
	}
	return names, nil
}

func (everythingKnown) KeepsTexts(context.Context, uuid.UUID) (bool, error) { return true, nil }

func (everythingKnown) Called(context.Context, uuid.UUID, []string) ([]domain.CalledInstance, error) {
	return nil, nil
}

func (everythingKnown) DatabasesCalled(context.Context, uuid.UUID, []uuid.UUID, []string) ([]domain.CalledDatabase, error) {
	return nil, nil
}

// keptBatch is a store of one batch.
type keptBatch struct{ measurements.Batch }

func (k *keptBatch) Record(_ context.Context, b measurements.Batch, _ ...watch.Sign) (measurements.Receipt, error) {
	k.Batch = b
	return measurements.Receipt{}, nil
}

// refusedAt fails unless an error names places that are in the body.
func refusedAt(t *testing.T, body any, err error) {
	t.Helper()
	var rule *usecase.RuleError
	if !errors.As(err, &rule) || len(rule.Fields) == 0 || len(rule.Fields) > 10_000 {
		t.Fatalf("refused with %v", err)
	}
	for _, f := range rule.Fields {
		if at := pointed(body, f.Pointer); at == nil {
			t.Fatalf("%s is nothing of the body", f.Pointer)
		}
	}
}

// pointed is what a pointer points at; nil: nothing.
func pointed(value any, pointer string) any {
	tokens := strings.Split(pointer, "/")
	for _, token := range tokens[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v := value.(type) {
		case map[string]any:
			value = v[token]
		case []any:
			var n int
			if json.Unmarshal([]byte(token), &n) != nil || n < 0 || n >= len(v) {
				return nil
			}
			value = v[n]
		default:
			return nil
		}
	}
	return value
}

func hostInBounds(t *testing.T, h measurements.HostSample) {
	t.Helper()
	textInBounds(t, h.Host, 255)
	if h.Instances == nil {
		t.Fatalf("%+v does not say what runs there", h)
	}
	percents := []*float64{h.CPUPercent, h.MemoryPercent}
	for _, v := range h.Volumes {
		textInBounds(t, v.Mount, 255)
		percents = append(percents, v.UsedPercent)
	}
	for _, p := range percents {
		if p != nil {
			inBounds(t, *p, 100)
		}
	}
}

func inBounds(t *testing.T, v, most float64) {
	t.Helper()
	if math.IsNaN(v) || v < 0 || v > most {
		t.Fatalf("%v is taken", v)
	}
}

func textInBounds(t *testing.T, text string, most int) {
	t.Helper()
	if n := utf8.RuneCountInString(text); n < 1 || n > most || !wire.Storable(text) {
		t.Fatalf("%q is taken", text)
	}
}

func timeInBounds(t *testing.T, at, now time.Time) {
	t.Helper()
	if at.Year() < 1970 || at.After(now.Add(5*time.Minute)) || at.Nanosecond()%1000 != 0 || at.Location() != time.UTC {
		t.Fatalf("%s is taken", at)
	}
}

func intervalInBounds(t *testing.T, d time.Duration) {
	t.Helper()
	if d < time.Millisecond || d > 7*24*time.Hour {
		t.Fatalf("an interval of %s is taken", d)
	}
}
