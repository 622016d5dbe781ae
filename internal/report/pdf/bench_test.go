package pdf_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

// A Security report over 14 instances, the share of rendering in the goal of
// POST to Ready in 100 ms.
func BenchmarkSecurity14(b *testing.B) {
	benchmark(b, snapshottest.Rich(report.Security))
}

// BenchmarkRows26000 has 26,000 findings of one check, 20,000 of which are printed. Goal: 1.2 s
// and 200 MiB resident at most, of which the test takes some 30.
func BenchmarkRows26000(b *testing.B) {
	benchmark(b, snapshottest.Huge(26_000))
}

// BenchmarkInstances500 is a Security report over 500 instances. Goal: 5 s.
func BenchmarkInstances500(b *testing.B) {
	doc := snapshottest.Rich(report.Security)
	copied(&doc, 500)
	benchmark(b, doc)
}

// 2,000 pages: pages per second, and memory by -benchmem.
func BenchmarkPages2000(b *testing.B) {
	benchmark(b, snapshottest.Pages(2000))
}

func benchmark(b *testing.B, doc snapshot.Document) {
	b.Helper()
	r := renderer(b)
	b.ReportAllocs()
	before := peak(b, true)
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
	b.ReportMetric(before, "before-MiB")
	b.ReportMetric(peak(b, false), "peak-MiB")
}

// peak is the largest resident set that the process had since it was last forgotten, in
// MiB.
func peak(b *testing.B, forget bool) float64 {
	b.Helper()
	if forget {
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
			b.Skip("the peak of memory is read from Linux's /proc: ", err)
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		b.Fatalf("no VmHWM in\n%s", status)
	}
	kib, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}

// BenchmarkStored renders inputs documents, *.json in PDF_SAMPLES, as they are stored.
func BenchmarkStored(b *testing.B) {
	stored, err := filepath.Glob(filepath.Join(os.Getenv("PDF_SAMPLES"), "*.json"))
	if err != nil || len(stored) == 0 {
		b.Skip("PDF_SAMPLES names no directory with inputs documents: ", err)
	}
	for _, path := range stored {
		b.Run(filepath.Base(path), func(b *testing.B) {
			inputs, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			doc, err := snapshot.Decode(inputs)
			if err != nil {
				b.Fatal(fmt.Errorf("%s: %w", path, err))
			}
			benchmark(b, doc)
		})
	}
}
