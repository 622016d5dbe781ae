package timegrid

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// moments are the years that RFC 3339 can write, and more often than chance would
// have it the edges of weeks and what lies beside them.
func moments() *rapid.Generator[time.Time] {
	first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC) // a Monday
	const seconds = 9999 * 365 * 24 * 60 * 60
	zones := []*time.Location{time.UTC, time.FixedZone("", 19800), time.FixedZone("", -34200)}
	return rapid.Custom(func(t *rapid.T) time.Time {
		s := rapid.Int64Range(0, seconds).Draw(t, "seconds")
		ns := rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")
		if rapid.Bool().Draw(t, "near a week's edge") {
			s -= s % (7 * 24 * 60 * 60)
			ns = rapid.Int64Range(0, 2).Draw(t, "nanoseconds after")
			s += rapid.Int64Range(0, 1).Draw(t, "seconds after")
		}
		return time.Unix(first.Unix()+s, ns).In(rapid.SampledFrom(zones).Draw(t, "zone"))
	})
}

// TestEveryMomentIsInOneBucket: of the calendar's minutes, hours, days, and weeks
// from Monday. Truncate counts from a Monday too, the first in the calendar.
func TestEveryMomentIsInOneBucket(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := moments().Draw(t, "at")
		for _, size := range Sizes() {
			start := size.Floor(at)
			if want := at.UTC().Truncate(size.Width()); !start.Equal(want) || start.Location() != time.UTC {
				t.Fatalf("%s of %s: %s, want %s", size, at, start, want)
			}
			if start.After(at) || !start.Add(size.Width()).After(at) {
				t.Fatalf("%s is not in the %s from %s", at, size, start)
			}
			if again := size.Floor(start); again != start {
				t.Fatalf("the %s from %s starts at %s", size, start, again)
			}
			if size == Week && start.Weekday() != time.Monday {
				t.Fatalf("a week starts on a %s", start.Weekday())
			}
		}
	})
}

// TestBucketsCoverTheirWindow: without a gap, from the bucket of From to the one
// of the last instant before To.
func TestBucketsCoverTheirWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := Window{From: moments().Draw(t, "from"), Size: rapid.SampledFrom(Sizes()).Draw(t, "size")}
		width := w.Size.Width()
		w.To = w.From.Add(time.Duration(rapid.Int64Range(1, int64(20*width)).Draw(t, "long")))
		if rapid.Bool().Draw(t, "to an edge") {
			w.To = w.Size.Floor(w.To).Add(width)
		}
		starts := w.Starts()
		if len(starts) != w.Len() || starts[0] != w.Start() || starts[0] != w.Size.Floor(w.From) {
			t.Fatalf("%+v has %d buckets: %s", w, w.Len(), starts)
		}
		for i, start := range starts {
			if i > 0 && start.Sub(starts[i-1]) != width {
				t.Fatalf("from %s to %s is no bucket", starts[i-1], start)
			}
			if w.Index(start) != i || w.Index(start.Add(width-1)) != i {
				t.Fatalf("%s is not in bucket %d", start, i)
			}
		}
		last := starts[len(starts)-1]
		if !last.Before(w.To) || w.To.After(w.End()) || !w.End().Equal(last.Add(width)) {
			t.Fatalf("to %s, and the last bucket is from %s to %s", w.To, last, w.End())
		}
		if before, after := w.Index(w.Start().Add(-1)), w.Index(w.End()); before != -1 || after != w.Len() {
			t.Fatalf("beside the window is bucket %d and %d of %d", before, after, w.Len())
		}
	})
}

// TestTheWidestWindow covers every minute that can be written.
func TestTheWidestWindow(t *testing.T) {
	t.Parallel()
	w := Window{From: at(t, "0001-01-01T00:00:00Z"), To: at(t, "9999-12-31T23:59:59Z"), Size: Minute}
	const days = 3_652_059
	if n := w.Len(); n != days*24*60 {
		t.Errorf("%d minutes, want %d", n, days*24*60)
	}
	if want := at(t, "9999-12-31T23:59:00Z").Add(time.Minute); !w.End().Equal(want) {
		t.Errorf("ends %s, want %s", w.End(), want)
	}
}
