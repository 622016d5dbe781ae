package bench_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/files/blobs"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
)

// pollEvery is how often the client looks whether its report is Ready, and so
// how much too late it may see it.
const pollEvery = 2 * time.Millisecond

// warmups are reports that are built before the clock starts: connections,
// prepared statements and fonts are then as in a server that has been running.
const warmups = 3

// The phases of a report, each ending where its name says, in the order in
// which they follow each other.
var phases = []string{"queued", "claimed", "gathered", "inputs-kept", "pdf-kept", "committed", "visible"}

// BenchmarkPostToReady goes from the request of a Security report over fourteen
// assessed instances to the answer that says Ready, for one report after the
// other. Goal: p50 ≤ 100 ms.
func BenchmarkPostToReady(b *testing.B) {
	p := start(b)
	p.fleet()
	for range warmups {
		p.build()
	}
	var took, gets []time.Duration
	parts := map[string][]time.Duration{}
	for b.Loop() {
		r := p.build()
		took, gets = append(took, r.took), append(gets, r.get)
		for i, phase := range phases {
			parts[phase] = append(parts[phase], r.reached[i+1].Sub(r.reached[i]))
		}
	}
	b.ReportMetric(p.memory(), "memory-MiB")
	b.ReportMetric(float64(warmups+len(took)), "reports")
	b.ReportMetric(quantile(took, 0.5), "p50-ms")
	b.ReportMetric(quantile(took, 0.95), "p95-ms")
	b.ReportMetric(quantile(gets, 0.5), "get-ms")
	b.ReportMetric(quantile(p.render(), 0.5), "render-ms")
	for phase, durations := range parts {
		b.ReportMetric(quantile(durations, 0.5), phase+"-ms")
	}
}

// build is one report, from request to mail.
type build struct {
	took    time.Duration // until it was seen to be Ready
	reached []time.Time   // begin, and the end of every phase
	get     time.Duration // of reading it once more
}

// build requests a report, waits until it is Ready and its mail is away, so
// that the next one has the machine for itself, and reads where the time went.
func (p *program) build() build {
	p.b.Helper()
	var requested struct {
		Reused bool
		Report struct{ ID string }
	}
	begin := time.Now()
	p.call(http.MethodPost, "/reports", map[string]string{"kind": "Security"}, &requested, http.StatusAccepted)
	if requested.Reused {
		p.b.Fatal("somebody else's report was given out")
	}
	path := "/reports/" + requested.Report.ID
	var shown struct{ Status string }
	p.until("the report is Ready", pollEvery, time.Minute, func() bool {
		if p.get(path, &shown); shown.Status == "Failed" {
			p.b.Fatal("the report Failed")
		}
		return shown.Status == "Ready"
	})
	visible := time.Now()

	var reached map[string]time.Time
	p.until("the mail is away", 5*time.Millisecond, time.Minute, func() bool {
		reached = p.trail(path)
		return !reached["emailSent"].IsZero()
	})
	again := time.Now()
	p.get(path, &shown)
	return build{took: visible.Sub(begin), get: time.Since(again), reached: []time.Time{
		begin, reached["queued"], reached["buildStarted"], reached["stepCompleted 1"], reached["stepCompleted 2"],
		reached["stepCompleted 3"], reached["ready"], visible,
	}}
}

// trail is when what happened to a report.
func (p *program) trail(path string) map[string]time.Time {
	p.b.Helper()
	var trail struct {
		Items []struct {
			At   time.Time
			Type string
			Data struct{ Step int }
		}
	}
	p.get(path+"/events", &trail)
	reached := map[string]time.Time{}
	for _, e := range trail.Items {
		if e.Type == "stepCompleted" {
			e.Type += " " + string(rune('0'+e.Data.Step))
		}
		reached[e.Type] = e.At
	}
	return reached
}

// render makes the PDF from the inputs of a report that was built, and does
// nothing else.
func (p *program) render() []time.Duration {
	p.b.Helper()
	doc := p.inputs()
	renderer, err := pdf.New(pdf.Build{Version: "bench", Commit: "bench"})
	if err != nil {
		p.b.Fatal(err)
	}
	var took []time.Duration
	for range 10 {
		begin := time.Now()
		rendered, err := renderer.Render(io.Discard, doc)
		if err != nil {
			p.b.Fatal(err)
		}
		took = append(took, time.Since(begin))
		p.b.ReportMetric(float64(rendered.Pages), "pages")
	}
	return took
}

// inputs is the inputs document of any report; they differ in their ids only.
func (p *program) inputs() snapshot.Document {
	p.b.Helper()
	ctx := p.b.Context()
	store, err := blobs.Open(ctx, "file://"+filepath.Join(p.data, "blobs"))
	if err != nil {
		p.b.Fatal(err)
	}
	defer store.Close()
	for o, err := range store.List(ctx, blobs.Prefix) {
		if err != nil {
			p.b.Fatal(err)
		}
		if !strings.HasSuffix(o.Name, ".json.zst") {
			continue
		}
		document, _, err := store.ReadInputs(ctx, o.Name)
		if err != nil {
			p.b.Fatal(err)
		}
		doc, err := snapshot.Decode(document)
		if err != nil {
			p.b.Fatal(err)
		}
		return doc
	}
	p.b.Fatal("no inputs are stored")
	return snapshot.Document{}
}
