package pdf

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"runtime/debug"
	"strings"

	"muster/domain/report"
	"muster/internal/assessment/quote"
	"muster/internal/engine"
	"muster/internal/measurements/forecast"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
)

// Build says which program renders.
type Build struct {
	Version string // as released, or "dev"
	Commit  string
}

// source is the program text that renders, without tests (see snapshot.Source).
//
//go:embed *[^t].go layout.go blocks/*.go daily/*.go inventory/*.go scorecard/*.go sections/*[^t].go sheets/*.go
//go:embed typeset/*[^t].go typeset/cut.go typeset/document.go typeset/font.go typeset/output.go typeset/paint.go
var source embed.FS

// Renderer renders reports. It is immutable: one serves all goroutines.
type Renderer struct {
	fonts  *typeset.Fonts
	build  Build
	assets string // SHA-256 over the fonts and the program text, hex
}

// New returns a renderer for a build. An empty commit is taken from the
// version control stamp that the Go tool leaves in the binary.
func New(build Build) (*Renderer, error) {
	fonts := typeset.LoadFonts()
	if build.Commit == "" {
		build.Commit = stampedCommit()
	}
	build.Version = cmp.Or(build.Version, "dev")
	assets, err := digest(fonts.Digest(), source, snapshot.Source, engine.Source, quote.Source, forecast.Source)
	if err != nil {
		return nil, fmt.Errorf("digest what renders: %w", err)
	}
	return &Renderer{fonts: fonts, build: build, assets: assets}, nil
}

// digest sums up the fonts and the program text that decides what is on a page. Tests
// decide nothing. fs.WalkDir goes in lexical order, so the sum is stable.
func digest(fonts string, texts ...fs.FS) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, fonts)
	for _, text := range texts {
		err := fs.WalkDir(text, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := fs.ReadFile(text, path)
			if err != nil {
				return err
			}
			fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func stampedCommit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	commit, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	return commit + dirty
}

// Identity says who rendered: two renderers with the same identity give the
// same bytes for the same document. The architecture is part of the Go
// version: on some, the compiler fuses multiplication and addition, and a
// coordinate may round differently. Assets covers the fonts and the program text of
// this package, those below it, snapshot and analysis: a build out of a work tree with changes
// has the commit of one without them, and renders otherwise all the same. The
// catalogue's and the feed's digests are in the document itself.
func (r *Renderer) Identity() report.Renderer {
	return report.Renderer{
		Version: r.build.Version, Commit: r.build.Commit, GoVersion: runtime.Version() + " " + runtime.GOARCH, Assets: r.assets,
	}
}

// Rendered is what the Ready event records of a PDF.
type Rendered struct {
	Pages        int
	SizeBytes    int64
	SHA256       string // of the PDF, hex
	InputsSHA256 string // of the canonical document, hex; printed in the PDF
}

// RenderError says that a document could not be rendered, whatever is retried.
type RenderError struct {
	Report string
	Cause  any // an error, or what was panicked with
}

func (e *RenderError) Error() string { return fmt.Sprintf("render report %s: %v", e.Report, e.Cause) }

func (e *RenderError) Unwrap() error {
	err, _ := e.Cause.(error)
	return err
}

// Render writes the PDF of a document to w. errors.As target: *RenderError for
// a document that cannot be rendered; w's own errors are wrapped.
func (r *Renderer) Render(w io.Writer, doc snapshot.Document) (Rendered, error) {
	inputs, err := snapshot.Canonicalize(doc)
	if err != nil {
		return Rendered{}, &RenderError{Report: doc.ReportID.String(), Cause: err}
	}
	return r.RenderCanonical(w, inputs)
}

// RenderCanonical is Render for callers that have the canonical form.
func (r *Renderer) RenderCanonical(w io.Writer, inputs snapshot.Canonical) (rendered Rendered, err error) {
	doc := inputs.Document
	defer func() {
		if p := recover(); p != nil {
			err = &RenderError{Report: doc.ReportID.String(), Cause: p}
		}
	}()
	b, err := r.layOut(doc, inputs.Digest)
	if err != nil {
		return Rendered{}, &RenderError{Report: doc.ReportID.String(), Cause: err}
	}
	rendered.InputsSHA256 = inputs.Digest
	rendered.Pages = len(b.Paper.Pages())
	sum, size := sha256.New(), counter(0)
	if err := b.Paper.Paint(io.MultiWriter(w, sum, &size), b.Info()); err != nil {
		return Rendered{}, fmt.Errorf("render report %s: %w", doc.ReportID, err)
	}
	rendered.SizeBytes = int64(size)
	rendered.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return rendered, nil
}

// counter counts bytes.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
