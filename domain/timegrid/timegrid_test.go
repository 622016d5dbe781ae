package timegrid

import (
	"testing"
	"time"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFloor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size     Size
		at, want string
	}{
		{Minute, "2026-11-20T11:37:02.000001Z", "2026-11-20T11:37:00Z"},
		{Hour, "2026-11-20T11:37:02Z", "2026-11-20T11:00:00Z"},
		{Hour, "2026-11-20T11:00:00Z", "2026-11-20T11:00:00Z"},
		{Hour, "2026-11-20T10:59:59.999999999Z", "2026-11-20T10:00:00Z"},
		{Hour, "2026-11-20T11:37:00+05:30", "2026-11-20T06:00:00Z"}, // hours of UTC
		{Day, "2026-11-20T23:30:00-01:00", "2026-11-21T00:00:00Z"},
		{Week, "2026-11-22T23:59:59Z", "2026-11-16T00:00:00Z"}, // a Sunday, to its Monday
		{Week, "2026-11-23T00:00:00Z", "2026-11-23T00:00:00Z"},
		{Week, "1970-01-01T00:00:00Z", "1969-12-29T00:00:00Z"}, // a Thursday
		{Week, "1969-12-28T23:59:59.5Z", "1969-12-22T00:00:00Z"},
		// Further from 1970 than a Duration reaches.
		{Hour, "0001-01-01T01:02:03Z", "0001-01-01T01:00:00Z"},
		{Week, "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"}, // a Monday
		{Minute, "9999-12-31T23:59:59.9Z", "9999-12-31T23:59:00Z"},
	} {
		if got := c.size.Floor(at(t, c.at)); !got.Equal(at(t, c.want)) || got.Location() != time.UTC {
			t.Errorf("%s of %s: %s, want %s", c.size, c.at, got.Format(time.RFC3339Nano), c.want)
		}
	}
}

// The last bucket holds the instant before To, so that To on an edge opens none.
func TestWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size              Size
		from, to          string
		buckets           int
		start, last, ends string
	}{
		{Day, "2026-11-18T00:00:00Z", "2026-11-20T11:37:02Z", 3, "2026-11-18T00:00:00Z", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"},
		{Hour, "2026-11-20T08:59:59Z", "2026-11-20T10:00:00Z", 2, "2026-11-20T08:00:00Z", "2026-11-20T09:00:00Z", "2026-11-20T10:00:00Z"},
		{Hour, "2026-11-20T08:59:59Z", "2026-11-20T10:00:00.000001Z", 3, "2026-11-20T08:00:00Z", "2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z"},
		{Week, "2026-11-20T10:00:00Z", "2026-11-20T10:00:01Z", 1, "2026-11-16T00:00:00Z", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"},
		{Minute, "2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z", 10_080, "2026-11-13T00:00:00Z", "2026-11-19T23:59:00Z", "2026-11-20T00:00:00Z"},
	} {
		w := Window{From: at(t, c.from), To: at(t, c.to), Size: c.size}
		starts := w.Starts()
		if w.Len() != c.buckets || len(starts) != c.buckets {
			t.Fatalf("%s %s: %d buckets, %d starts, want %d", c.size, c.from, w.Len(), len(starts), c.buckets)
		}
		if last := starts[c.buckets-1]; !starts[0].Equal(at(t, c.start)) || !last.Equal(at(t, c.last)) || !w.End().Equal(at(t, c.ends)) {
			t.Errorf("%s %s: from %s to %s, which ends %s", c.size, c.from, starts[0], last, w.End())
		}
		for i, start := range starts {
			if w.Index(start) != i || w.Index(start.Add(c.size.Width()-1)) != i {
				t.Fatalf("%s is not in bucket %d", start, i)
			}
		}
	}
}
