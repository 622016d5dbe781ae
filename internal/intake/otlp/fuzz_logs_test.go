package otlp_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"

	"muster/internal/intake"
	"muster/internal/intake/otlp"
	"muster/internal/intake/receivers"
)

// checkLooks runs a decoder over a body of a fuzzer and holds what comes out against what
// the store takes, and the counts against each other. What it allocates is bounded by
// the body's size.
func checkLooks(t *testing.T, body []byte, decode func() (*receivers.Message, error)) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := decode()
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 512*uint64(len(body))+1<<20 {
		t.Errorf("%d bytes are allocated for %d", allocated, len(body))
	}
	if err != nil {
		var bad *intake.UnreadableError
		if !errors.As(err, &bad) {
			t.Fatalf("error is %T", err)
		}
		return
	}
	counted := 0
	for reason, n := range m.Dropped {
		if reason == "" || n < 0 {
			t.Fatalf("dropped are %v", m.Dropped)
		}
		counted += n
	}
	for _, look := range m.Looks() {
		counted += look.Records
		if !look.At.After(time.Unix(0, 0)) || look.At.After(receipt.Add(5*time.Minute)) || look.At.Nanosecond()%1000 != 0 || look.Engine == "" {
			t.Fatalf("look %+v", look)
		}
		for wait, n := range look.Waits {
			keepable(t, wait, 600)
			if n < 1 {
				t.Fatalf("%q %d times", wait, n)
			}
		}
		keys := map[string]bool{}
		for _, one := range look.Statements {
			keepable(t, one.Key, 600)
			if keys[one.Key] || one.Calls < 1 || one.Calls > 1<<40 || !(one.TotalMs >= 0 && one.TotalMs <= 1e15) || !utf8.ValidString(one.Text) {
				t.Fatalf("%+v", one)
			}
			keys[one.Key] = true
		}
		if c := look.Counts; c != nil && (c.Active < 0 || c.Idle < 0 || c.Other < 0) {
			t.Fatalf("%+v", c)
		}
	}
	if counted != m.Received || m.Refused() > m.Received {
		t.Fatalf("of %d records %v are dropped, and %d accounted for", m.Received, m.Dropped, counted)
	}
}

func keepable(t *testing.T, text string, most int) {
	t.Helper()
	if text == "" || len(text) > most || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		t.Fatalf("PostgreSQL does not take %.300q", text)
	}
}

// eventFixtures are what the receivers send.
func eventFixtures(f *testing.F) (all [][]byte) {
	names, err := filepath.Glob(filepath.Join("testdata", "receivers", "*_*.json"))
	if err != nil || len(names) < 6 {
		f.Fatalf("%d fixtures, %v", len(names), err)
	}
	for _, name := range names {
		all = append(all, fixture(f, filepath.Base(name)))
	}
	return all
}

// FuzzLogsProtobuf begins with what the receivers send.
func FuzzLogsProtobuf(f *testing.F) {
	for _, body := range eventFixtures(f) {
		f.Add(asProtobuf(f, body, &logs.ExportLogsServiceRequest{}))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		checkLooks(t, body, func() (*receivers.Message, error) { return otlp.DecodeLogsProtobuf(body, receipt) })
	})
}

// FuzzLogsJSON is the same in JSON.
func FuzzLogsJSON(f *testing.F) {
	for _, body := range eventFixtures(f) {
		f.Add(string(body))
	}
	f.Fuzz(func(t *testing.T, body string) {
		checkLooks(t, []byte(body), func() (*receivers.Message, error) { return otlp.DecodeLogsJSON([]byte(body), receipt) })
	})
}

// FuzzGaugesJSON covers the metrics of databases.
func FuzzGaugesJSON(f *testing.F) {
	f.Add(string(fixture(f, "metrics.json")))
	f.Fuzz(func(t *testing.T, body string) {
		checkLooks(t, []byte(body), func() (*receivers.Message, error) {
			m, err := otlp.DecodeJSON([]byte(body), receipt)
			if err != nil {
				return nil, err
			}
			return m.Databases, nil
		})
	})
}
