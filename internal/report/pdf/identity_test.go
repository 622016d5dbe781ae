package pdf_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

// The same document gives the same bytes: from another renderer of the same
// build, and while many goroutines render others over the same fonts.
func TestRenderIsReproducible(t *testing.T) {
	t.Parallel()
	shared := renderer(t)
	for _, kind := range kinds {
		for name, doc := range documents(kind) {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				t.Parallel()
				want, rendered := render(t, renderer(t), doc)
				sum := sha256.Sum256(want)
				if rendered.SHA256 != hex.EncodeToString(sum[:]) || rendered.SizeBytes != int64(len(want)) {
					t.Errorf("Rendered does not describe the bytes written: %+v", rendered)
				}
				var group sync.WaitGroup
				for range 2 {
					group.Go(func() {
						var got bytes.Buffer
						if _, err := shared.Render(&got, doc); err != nil || !bytes.Equal(got.Bytes(), want) {
							t.Errorf("another run gave other bytes (%v)", err)
						}
					})
				}
				group.Wait()
			})
		}
	}
}

// A rebuild reads the stored inputs: they must lead to the same PDF as the
// document they were encoded from, and the PDF must name their digest.
func TestRenderFromStoredInputs(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	doc := snapshottest.Hostile(report.DataInventory)
	want, rendered := render(t, r, doc)
	stored, err := snapshot.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	again, err := snapshot.Decode(stored)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := render(t, r, again); !bytes.Equal(got, want) {
		t.Error("the stored inputs lead to another PDF")
	}
	if rendered.InputsSHA256 != snapshot.Digest(stored) {
		t.Error("the digest of the inputs is another")
	}
}

// What a rebuild compares must differ when the facts or the build differ.
func TestRenderDependsOnFactsAndBuild(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	want, _ := render(t, renderer(t), doc)
	other, err := pdf.New(pdf.Build{Version: "1.0.1", Commit: "0123abcd"})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := render(t, other, doc); bytes.Equal(got, want) {
		t.Error("another version renders the same bytes")
	}
	doc.AsOf = doc.AsOf.Add(1000)
	if got, _ := render(t, renderer(t), doc); bytes.Equal(got, want) {
		t.Error("another instant renders the same bytes")
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	id := renderer(t).Identity()
	if id.Version != "1.0.0" || id.Commit != "0123abcd" || id.GoVersion != runtime.Version()+" "+runtime.GOARCH || len(id.Assets) != 64 {
		t.Errorf("%+v", id)
	}
	unnamed, err := pdf.New(pdf.Build{})
	if err != nil {
		t.Fatal(err)
	}
	if id := unnamed.Identity(); id.Version != "dev" || id.Commit == "" {
		t.Errorf("%+v", id)
	}
}

// The file names its report to a program that reads metadata only.
func TestMetadata(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	file, rendered := render(t, renderer(t), doc)
	for _, want := range []string{doc.ReportID.String(), rendered.InputsSHA256, doc.Witness.Hash, "Security report of 2026-11-20 – Nordlicht Energie AG"} {
		if !bytes.Contains(file, utf16(want)) {
			t.Errorf("no %q in the metadata", want)
		}
	}
	if !bytes.Contains(file, []byte("/CreationDate (D:20261120120000)")) {
		t.Error("the creation date is not the snapshot's")
	}
	if !bytes.Contains(file, []byte("/Outlines")) {
		t.Error("no outline")
	}
}

func utf16(s string) []byte {
	var out []byte
	for _, r := range s {
		out = append(out, byte(r>>8), byte(r))
	}
	return out
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

type panickingWriter struct{}

func (panickingWriter) Write([]byte) (int, error) { panic("the library gave up") }

func TestRenderErrors(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	doc := snapshottest.Rich(report.Security)

	full := errors.New("disk full")
	_, err := r.Render(brokenWriter{full}, doc)
	var rendering *pdf.RenderError
	if !errors.Is(err, full) || errors.As(err, &rendering) {
		t.Errorf("the writer's error: %v", err)
	}
	if _, err = r.Render(panickingWriter{}, doc); !errors.As(err, &rendering) || !strings.Contains(err.Error(), "the library gave up") {
		t.Errorf("a panic: %v", err)
	}
	unknown := doc
	unknown.Kind = "Horoscope"
	if _, err = r.Render(io.Discard, unknown); !errors.As(err, &rendering) {
		t.Errorf("an unknown kind: %v", err)
	}
	doc.Vulnerabilities = []snapshot.Vulnerability{{CVSS: math.NaN()}}
	if _, err = r.Render(io.Discard, doc); !errors.As(err, &rendering) {
		t.Errorf("inputs that cannot be encoded: %v", err)
	}
}

func TestLetter(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	doc.Organization.PaperSize = "Letter"
	file, _ := render(t, renderer(t), doc)
	if !bytes.Contains(file, []byte("/MediaBox [0 0 612.00 792.00]")) {
		t.Error("not on Letter paper")
	}
}

// No document makes the renderer fail. The corpus runs with every test.
func FuzzRender(f *testing.F) {
	for i, s := range snapshottest.Nasty() {
		f.Add(s, snapshottest.Nasty()[(i+7)%20], byte(i), int64(i)*1_000_003)
	}
	r := renderer(f)
	f.Fuzz(func(t *testing.T, name, words string, choice byte, n int64) {
		doc := snapshottest.Rich(kinds[int(choice)%len(kinds)])
		doc.Organization.Name, doc.ScopeLabel, doc.Witness.Position = name, words, n
		doc.Instances = doc.Instances[:1]
		in := &doc.Instances[0]
		in.Name, in.Version, in.Engine, in.Active = name, words, "postgresql", choice&8 == 0
		in.Release = &snapshot.Release{Major: words, Latest: name, MinorsBehind: int(n), Target: words}
		in.CVEs = []snapshot.InstanceCVE{{ID: "CVE-2024-7348", Applies: words, Precondition: name}}
		size := int(n)
		in.Assessment = &snapshot.Assessment{Outcome: words, Role: name, RolesNote: words, ClientSessions: &size, TLSSessions: &size,
			Results: []snapshot.CheckResult{
				{CheckID: "PG-S01", Status: "fail", Severity: words, FailFraction: float64(n), Total: int(n % 1000), Violations: []snapshot.Violation{{Object: name, Evidence: words}}},
				{CheckID: name, Database: words, Status: words, Reason: name, Measured: words},
			},
			Roles: []snapshot.DatabaseRole{{Name: name, Attributes: []string{words}, MemberOf: []string{name, words}}}}
		in.Databases = []snapshot.Database{{ID: uuid.Max, Name: name, Classification: &snapshot.Classification{Status: "completed",
			TablesSeen: int(n), TablesClassified: int(n / 2), Tables: []snapshot.ClassifiedTable{{Schema: words, Name: name, EstimatedRows: n,
				Columns: []snapshot.ClassifiedColumn{{Name: words, Category: name, Weight: int(n % 50)}}}}}}}
		if _, err := r.Render(io.Discard, doc); err != nil {
			t.Fatal(err)
		}
	})
}
