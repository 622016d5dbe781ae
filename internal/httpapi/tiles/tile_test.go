package tiles

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/timegrid"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
)

// drawTile draws one of any width, whose values are gaps, zeros, and numbers.
func drawTile(t *rapid.T) (*tile, timegrid.Window, measurements.Values) {
	size := rapid.SampledFrom(timegrid.Sizes()).Draw(t, "size")
	from := size.Floor(time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "from"), 0))
	w := timegrid.Window{From: from, To: from.Add(time.Duration(rapid.IntRange(1, 2000).Draw(t, "buckets")) * size.Width()), Size: size}
	values := make(measurements.Values, w.Len())
	every := rapid.IntRange(1, 9).Draw(t, "every")
	number := rapid.Float64Range(-1e6, 1e6).Draw(t, "number")
	for i := range values {
		switch i % (every + 2) {
		case 0:
			values[i] = math.NaN()
		case 1:
		default:
			values[i] = number / float64(i)
		}
	}
	readAt := instant.Cut(from.Add(time.Duration(rapid.Int64Range(0, int64(3*24*time.Hour)).Draw(t, "read at"))))
	made, err := newTile(w, readAt, false, []line{{"cpuPercent", values}, {"memoryPercent", nil}, {"diskPercent", values}}, member{"hostCount", 7})
	if err != nil {
		t.Fatal(err)
	}
	return made, w, values
}

// TestATileMatchesTheGeneratedType: the JSON written by hand is what encoding/json makes of the type of
// openapi.yaml.
func TestATileMatchesTheGeneratedType(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		made, w, values := drawTile(t)
		asked := timegrid.Window{From: w.From.Add(1000), To: w.To.Add(-time.Microsecond), Size: w.Size}
		want := api.Utilization{
			From: asked.From, To: asked.To, GeneratedAt: made.readAt, BucketSize: api.BucketSize(w.Size), BucketStarts: w.Starts(),
			LastBucketPartial: w.End().After(made.readAt), HostCount: 7,
		}
		want.Series.CpuPercent, want.Series.DiskPercent = values, values
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(parsed(t, text), parsed(t, append(made.head(asked), made.shown...))); diff != "" {
			t.Fatal(diff)
		}
	})
}

func parsed(t *rapid.T, text []byte) (m map[string]any) {
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("%v: %.500s", err, text)
	}
	return m
}

// TestThePackedAnswer is kept for one window, and is the answer to it as it is; to
// another window the server packs what it is given.
func TestThePackedAnswer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		made, w, _ := drawTile(t)
		if err := made.pack(w); err != nil {
			t.Fatal(err)
		}
		written := func(asked timegrid.Window, takesGzip bool) (encoding string, body []byte) {
			a := httptest.NewRecorder()
			if err := (tileAnswer{tile: made, window: asked, gzip: takesGzip}).write(a); err != nil {
				t.Fatal(err)
			}
			return a.Header().Get("Content-Encoding"), a.Body.Bytes()
		}
		want := append(made.head(w), made.shown...)
		if encoding, got := written(w, false); encoding != "" || !bytes.Equal(got, want) {
			t.Fatalf("%q to whoever does not take gzip", encoding)
		}
		other := timegrid.Window{From: w.From, To: w.To.Add(-time.Microsecond), Size: w.Size}
		if encoding, got := written(other, true); encoding != "" || !bytes.Equal(got, append(made.head(other), made.shown...)) {
			t.Fatalf("%q to whoever asked for another window", encoding)
		}
		encoding, got := written(w, true)
		if len(made.shown) < wire.WorthPacking {
			if encoding != "" {
				t.Fatalf("%d bytes are packed", len(made.shown))
			}
			return
		}
		z, err := gzip.NewReader(bytes.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || encoding != "gzip" || !bytes.Equal(got, want) {
			t.Fatalf("%v, %q, %d of %d read", err, encoding, len(got), len(want))
		}
	})
}

// TestTheETagCoversTheShownValues: the time of the read changes nothing, a value does, and so does the end of
// the last bucket.
func TestTheETagCoversTheShownValues(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	w := timegrid.Window{From: from, To: from.Add(2 * time.Hour), Size: timegrid.Hour}
	tag := func(readAt time.Time, value float64, engines ...string) string {
		made, err := newTile(w, readAt, false, []line{{"x", measurements.Values{value, 1}}}, member{"engines", wire.NeverNull(engines)})
		if err != nil {
			t.Fatal(err)
		}
		return made.tag
	}
	first := tag(w.To, 1.5)
	for name, c := range map[string]struct {
		tag  string
		same bool
	}{
		"read later":        {tag(w.To.Add(time.Hour), 1.5), true},
		"less than is told": {tag(w.To, 1.5004), true},
		"another value":     {tag(w.To, 1.501), false},
		"a gap":             {tag(w.To, math.NaN()), false},
		"another engine":    {tag(w.To, 1.5, "oracle"), false},
		"still filling":     {tag(w.To.Add(-1), 1.5), false},
	} {
		if (c.tag == first) != c.same {
			t.Errorf("%s: %s and %s", name, first, c.tag)
		}
	}
}

// TestTileKeys: whatever must not share a tile has another key, and what may has
// the same.
func TestTileKeys(t *testing.T) {
	t.Parallel()
	hour := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	one, two, ours, theirs := uuid.UUID{1}, uuid.UUID{2}, uuid.UUID{3}, uuid.UUID{4}
	key := func(name string, organization uuid.UUID, from, to time.Duration, size timegrid.Size, filter ...uuid.UUID) string {
		return newTileQuery(name, organization, timegrid.Window{From: hour.Add(from), To: hour.Add(to), Size: size}, filter, nil).key()
	}
	tagged := func(organization uuid.UUID, tags fleet.TagFilter, filter ...uuid.UUID) string {
		return newTileQuery("utilization", organization, timegrid.Window{From: hour, To: hour.Add(2 * time.Hour), Size: timegrid.Hour}, filter, tags).key()
	}
	if tagged(ours, fleet.TagFilter{"a": {"x", "y"}, "b": {"z"}}) != tagged(ours, fleet.TagFilter{"b": {"z"}, "a": {"y", "x"}}) {
		t.Error("the order of tags matters")
	}
	different := map[string]bool{}
	for _, tags := range []fleet.TagFilter{nil, {"a": {"x"}}, {"a": {"y"}}, {"b": {"x"}}, {"a": {"x", "y"}}, {"a": {"x"}, "b": {"y"}}, {"a": {"xb", "y"}}, {"a": {"x:y"}}} {
		different[tagged(ours, tags)] = true
	}
	if len(different) != 8 {
		t.Errorf("%d keys of 8 filters", len(different))
	}
	first := key("utilization", ours, 0, 2*time.Hour, timegrid.Hour, one, two)
	for name, c := range map[string]struct {
		key  string
		same bool
	}{
		"in another order":       {key("utilization", ours, 0, 2*time.Hour, timegrid.Hour, two, one), true},
		"twice":                  {key("utilization", ours, 0, 2*time.Hour, timegrid.Hour, two, one, two, one), true},
		"within the same hours":  {key("utilization", ours, time.Hour-1, time.Hour+1, timegrid.Hour, one, two), true},
		"an hour more":           {key("utilization", ours, 0, 2*time.Hour+1, timegrid.Hour, one, two), false},
		"an hour earlier":        {key("utilization", ours, -1, 2*time.Hour, timegrid.Hour, one, two), false},
		"minutes":                {key("utilization", ours, 0, 2*time.Hour, timegrid.Minute, one, two), false},
		"another organization":   {key("utilization", theirs, 0, 2*time.Hour, timegrid.Hour, one, two), false},
		"another tile":           {key("wait-events", ours, 0, 2*time.Hour, timegrid.Hour, one, two), false},
		"one of them":            {key("utilization", ours, 0, 2*time.Hour, timegrid.Hour, one), false},
		"all of an organization": {key("utilization", ours, 0, 2*time.Hour, timegrid.Hour), false},
		"with a tag":             {tagged(ours, fleet.TagFilter{"env": {"prod"}}, one, two), false},
	} {
		if (c.key == first) != c.same {
			t.Errorf("%s: %q and %q", name, first, c.key)
		}
	}
}
