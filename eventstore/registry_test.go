package eventstore_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/eventstore"
	"muster/internal/testing/pgtest"
)

// opened has had three schema versions: {"name"}, then {"title"}, then
// {"title", "rooms"}.
type opened struct {
	Title string `json:"title"`
	Rooms int    `json:"rooms"`
}

type closed struct{}

func hotel() *eventstore.Registry {
	r := eventstore.NewRegistry()
	r.Register("hotel.opened", 3, opened{})
	r.Register("hotel.closed", 1, closed{})
	r.Upcast("hotel.opened", 1, func(data []byte) ([]byte, error) {
		var v1 struct{ Name string }
		if err := json.Unmarshal(data, &v1); err != nil {
			return nil, err
		}
		return json.Marshal(map[string]string{"title": v1.Name})
	})
	r.Upcast("hotel.opened", 2, func(data []byte) ([]byte, error) {
		var v2 struct{ Title string }
		if err := json.Unmarshal(data, &v2); err != nil {
			return nil, err
		}
		return json.Marshal(opened{Title: v2.Title, Rooms: 1})
	})
	return r
}

// Every version that was ever written is in testdata, named type@version.json.
func TestRegistryDecodesEveryStoredVersion(t *testing.T) {
	t.Parallel()
	r := hotel()
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*@*.json")
	if err != nil || len(files) != 4 {
		t.Fatalf("found %d examples, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "@")
			e := eventstore.Event{Type: name, Data: data}
			if _, err := fmt.Sscan(version, &e.SchemaVersion); err != nil {
				t.Fatal(err)
			}
			got, err := r.Decode(e)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{
				"hotel.opened@1": opened{Title: "Grand", Rooms: 1},
				"hotel.opened@2": opened{Title: "Grand", Rooms: 1},
				"hotel.opened@3": opened{Title: "Grand", Rooms: 12},
				"hotel.closed@1": closed{},
			}[name+"@"+version]
			wantEqual(t, "decoded", got, want)
		})
	}
}

func TestRegistryDecodesItsOwnEncoding(t *testing.T) {
	t.Parallel()
	r := hotel()
	rapid.Check(t, func(t *rapid.T) {
		event := opened{Title: rapid.String().Draw(t, "title"), Rooms: rapid.Int().Draw(t, "rooms")}
		encoded, err := r.Encode(event)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Decode(eventstore.Event{Type: encoded.Type, SchemaVersion: encoded.SchemaVersion, Data: encoded.Data})
		if err != nil || got != event {
			t.Fatalf("%+v came back as %+v, %v", event, got, err)
		}
	})
}

func TestRegistryRefusesUnknownEvents(t *testing.T) {
	t.Parallel()
	r := hotel()
	_, err := r.Decode(eventstore.Event{Type: "hotel.sold", SchemaVersion: 2})
	wantEqual(t, "unknown type", wantError[*eventstore.UnknownEventError](t, err), &eventstore.UnknownEventError{Type: "hotel.sold", SchemaVersion: 2})
	_, err = r.Decode(eventstore.Event{Type: "hotel.opened", SchemaVersion: 4})
	wantEqual(t, "newer version", wantError[*eventstore.UnknownEventError](t, err), &eventstore.UnknownEventError{Type: "hotel.opened", SchemaVersion: 4, Known: 3})
	_, err = r.Encode(struct{}{})
	wantError[*eventstore.UnregisteredError](t, err)
	_, err = r.Encode(nil)
	wantError[*eventstore.UnregisteredError](t, err)
	if _, err = r.Decode(eventstore.Event{Type: "hotel.opened", SchemaVersion: 1, Data: []byte("{")}); err == nil {
		t.Fatal("decoded half an object")
	}
}

func TestRegistryFaults(t *testing.T) {
	t.Parallel()
	same := func(data []byte) ([]byte, error) { return data, nil }
	for name, fill := range map[string]func(*eventstore.Registry){
		"name twice":       func(r *eventstore.Registry) { r.Register("a", 1, opened{}); r.Register("a", 1, closed{}) },
		"type twice":       func(r *eventstore.Registry) { r.Register("a", 1, opened{}); r.Register("b", 1, opened{}) },
		"no type":          func(r *eventstore.Registry) { r.Register("a", 1, nil) },
		"version 0":        func(r *eventstore.Registry) { r.Register("a", 0, opened{}) },
		"missing upcaster": func(r *eventstore.Registry) { r.Register("a", 3, opened{}); r.Upcast("a", 1, same) },
		"upcaster twice": func(r *eventstore.Registry) {
			r.Register("a", 2, opened{})
			r.Upcast("a", 1, same)
			r.Upcast("a", 1, same)
		},
		"upcaster beyond":        func(r *eventstore.Registry) { r.Register("a", 1, opened{}); r.Upcast("a", 1, same) },
		"upcaster of no type":    func(r *eventstore.Registry) { r.Upcast("a", 1, same) },
		"upcaster before a type": func(r *eventstore.Registry) { r.Upcast("a", 2, same); r.Register("a", 2, opened{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := eventstore.NewRegistry()
			fill(r)
			wantEqual(t, "name", len(wantError[*eventstore.RegistrationError](t, r.Err()).Name), 1)
		})
	}
}

func TestFoldUpgradesOldEventsWithoutChangingTheLog(t *testing.T) {
	t.Parallel()
	r := hotel()
	store := eventstore.New(pgtest.DB(t))
	stream := uuid.New()
	mustAppend(t, store, eventstore.Fleet, eventstore.Append{
		Organization: ours, StreamType: "hotel", Stream: stream, Events: []eventstore.NewEvent{
			{Type: "hotel.opened", Data: []byte(`{"name":"Grand"}`)},
			{Type: "hotel.opened", SchemaVersion: 3, Data: []byte(`{"title":"Grand","rooms":12}`)},
			{Type: "hotel.closed", Data: []byte(`{}`)},
		},
	})
	var written []int
	for _, e := range collect(t, store.Read(t.Context(), eventstore.Fleet, eventstore.Filter{Types: []string{"hotel.opened"}})) {
		written = append(written, e.SchemaVersion)
	}
	wantEqual(t, "schema versions as written", written, []int{1, 3})
	var titles []string
	version, err := eventstore.Fold(r, store.Load(t.Context(), nil, ours, stream), func(event any, at eventstore.Event) {
		titles = append(titles, fmt.Sprintf("%d %T", at.Version, event))
	})
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "version", version, 3)
	wantEqual(t, "events", titles, []string{"1 eventstore_test.opened", "2 eventstore_test.opened", "3 eventstore_test.closed"})
	_, err = eventstore.Fold(r, store.Load(t.Context(), nil, ours, stream), func(opened, eventstore.Event) {})
	wantEqual(t, "not an opened", wantError[*eventstore.UnknownEventError](t, err).Type, "hotel.closed")
	wantWhole(t, store, eventstore.Fleet)
}
