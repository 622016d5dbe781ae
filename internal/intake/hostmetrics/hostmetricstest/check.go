// Package hostmetricstest holds what a decoder makes of a body against what the store
// takes.
package hostmetricstest

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"muster/internal/intake"
	"muster/internal/intake/hostmetrics"
)

// Decode runs a decoder over a body of a fuzzer and checks whatever comes out. What
// it allocates is bounded by the body's size.
func Decode(t *testing.T, body []byte, receipt time.Time, decode func() (*hostmetrics.Message, error)) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := decode()
	if err != nil {
		var bad *intake.UnreadableError
		if !errors.As(err, &bad) {
			t.Fatalf("error is %T", err)
		}
		return
	}
	samples := m.Samples()
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 256*uint64(len(body))+1<<20 {
		t.Errorf("%d bytes are allocated for %d", allocated, len(body))
	}
	Check(t, m, samples, receipt)
}

// Check holds samples against what the store takes, and the counts against each
// other.
func Check(t *testing.T, m *hostmetrics.Message, samples []hostmetrics.Sample, receipt time.Time) {
	t.Helper()
	counted := 0
	for reason, n := range m.Dropped {
		if reason == "" || n < 0 {
			t.Fatalf("dropped are %v", m.Dropped)
		}
		counted += n
	}
	for _, s := range samples {
		counted += s.Points
		check(t, s, receipt)
	}
	if counted != m.Received || m.Refused() > m.Received {
		t.Fatalf("of %d points %v are dropped, and %d accounted for", m.Received, m.Dropped, counted)
	}
}

func check(t *testing.T, s hostmetrics.Sample, receipt time.Time) {
	t.Helper()
	if s.Host == "" || s.Points < 1 {
		t.Fatalf("sample %+v", s)
	}
	for _, text := range append([]string{s.Host}, s.References...) {
		keepable(t, text, 255)
	}
	if !s.At.After(time.Unix(0, 0)) || s.At.After(receipt.Add(5*time.Minute)) || s.At.Nanosecond()%1000 != 0 {
		t.Fatalf("at %s", s.At)
	}
	for i, counter := range s.CPU {
		if counter.Code < 0 || i > 0 && counter.Code <= s.CPU[i-1].Code {
			t.Fatalf("counters %v", s.CPU)
		}
		size(t, counter.Seconds, false)
	}
	if s.Memory != nil {
		for _, bytes := range []float64{s.Memory.Total, s.Memory.Available, s.Memory.Used} {
			size(t, bytes, true)
		}
	}
	mounts := map[string]bool{}
	for _, v := range s.Volumes {
		keepable(t, v.Mount, 1024)
		if v.Mount == "" || mounts[v.Mount] {
			t.Fatalf("volumes %+v", s.Volumes)
		}
		mounts[v.Mount] = true
		for _, bytes := range []float64{v.Size, v.Free, v.Available} {
			size(t, bytes, true)
		}
		if v.UsedPercent != nil && (math.IsNaN(*v.UsedPercent) || *v.UsedPercent < 0 || *v.UsedPercent > 100) {
			t.Fatalf("%v percent", *v.UsedPercent)
		}
	}
}

// size is a number that is finite and not negative, or -1 if it may be missing.
func size(t *testing.T, n float64, missing bool) {
	t.Helper()
	if math.IsNaN(n) || math.IsInf(n, 0) || n < 0 && (!missing || n != -1) {
		t.Fatalf("a size is %v", n)
	}
}

func keepable(t *testing.T, text string, most int) {
	t.Helper()
	if len(text) > most || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		t.Fatalf("PostgreSQL does not take %.300q", text)
	}
}
