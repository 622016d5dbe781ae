package pdf_test

import (
	"io"
	"testing"

	"muster/domain/report"
	"muster/internal/snapshot/snapshottest"
)

// A Security report over 14 instances, the share of rendering in the goal of
// POST to Ready in 300 ms.
func BenchmarkSecurity14(b *testing.B) {
	r, doc := renderer(b), snapshottest.Rich(report.Security)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Render(io.Discard, doc); err != nil {
			b.Fatal(err)
		}
	}
}

// 2,000 pages: pages per second, and memory by -benchmem.
func BenchmarkPages2000(b *testing.B) {
	r, doc := renderer(b), snapshottest.Pages(2000)
	b.ReportAllocs()
	pages := 0
	for b.Loop() {
		rendered, err := r.Render(io.Discard, doc)
		if err != nil {
			b.Fatal(err)
		}
		pages += rendered.Pages
	}
	b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64(pages)/float64(b.N), "pages")
}
