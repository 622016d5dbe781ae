package handlers

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/files/blobs"
	"muster/internal/proof"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/companion"
)

// RebuildVerdict is one of the answers of a rebuild.
type RebuildVerdict string

// The verdicts.
const (
	Identical      RebuildVerdict = "identical"
	Differs        RebuildVerdict = "differs"
	InputsMismatch RebuildVerdict = "inputs do not match their digest"
	InputsMissing  RebuildVerdict = "inputs are missing"
	OtherRenderer  RebuildVerdict = "built by another renderer"
	InputsErased   RebuildVerdict = "inputs erased"
	RecordAltered  RebuildVerdict = "the log does not verify"
	Built          RebuildVerdict = "built" // and compared with nothing
)

// RebuildOutcome is what a rebuild found.
type RebuildOutcome struct {
	Verdict      RebuildVerdict
	Organization uuid.UUID
	Ready        report.Ready    // as recorded
	Renderer     report.Renderer // of this program
	SHA256       string          // of the PDF that was built now, hex; empty where none was
	Other        *report.File    // of a Differs whose PDF is identical: the companion that is not, as it was built now
	Erased       *report.InputsErased
	ErasedAt     time.Time
	Fault        string // of a RecordAltered, and of given inputs: what does not match, or is not known
}

// ExitStatus is what the command line answers with.
func (o RebuildOutcome) ExitStatus() int {
	switch o.Verdict {
	case Identical, Built:
		return 0
	case OtherRenderer:
		return 3
	case InputsErased:
		return 4
	case Differs, InputsMismatch, InputsMissing, RecordAltered:
		return 1
	}
	return 1
}

// FileAltered says that the stored inputs are not those that were recorded.
func (o RebuildOutcome) FileAltered() bool {
	return o.Verdict == InputsMismatch || o.Verdict == InputsMissing
}

// String is the answer in a sentence.
func (o RebuildOutcome) String() string {
	switch o.Verdict {
	case Identical:
		said := "identical: the recorded inputs give the recorded PDF, SHA-256 " + o.SHA256
		for _, f := range o.Ready.Files {
			said += "; " + f.Name + ", SHA-256 " + f.SHA256
		}
		return said
	case Differs:
		if o.Other != nil {
			return fmt.Sprintf("differs: the recorded inputs give the recorded PDF, and a %s with SHA-256 %s, recorded is another", o.Other.Name, o.Other.SHA256)
		}
		said := fmt.Sprintf("differs: the recorded inputs give a PDF with SHA-256 %s, recorded is %s", o.SHA256, o.Ready.PDFSHA256)
		if o.Fault != "" {
			said += "; " + o.Fault
		}
		return said
	case Built:
		return fmt.Sprintf("built: the inputs give a PDF with SHA-256 %s, which was held against nothing", o.SHA256)
	case InputsMismatch:
		if o.Fault != "" {
			return "the inputs do not match their recorded digest: " + o.Fault
		}
		return "the inputs do not match their recorded digest: the file " + o.Ready.InputsKey + " was changed"
	case InputsMissing:
		return "the inputs are missing: no file " + o.Ready.InputsKey + ", and no event says that it was erased"
	case OtherRenderer:
		r := o.Ready.Renderer
		return fmt.Sprintf("built by another renderer; the inputs match their digest. Run version %s (commit %s, %s)", r.Version, r.Commit, r.GoVersion)
	case InputsErased:
		return fmt.Sprintf("inputs erased on %s by rule %s; the digests still prove a PDF in hand", o.ErasedAt.UTC().Format("2006-01-02"), o.Erased.Rule)
	case RecordAltered:
		return "what is recorded does not verify, so its digests prove nothing: " + o.Fault
	}
	return string(o.Verdict)
}

// NotBuiltError reports that a report has no PDF that could be built again.
type NotBuiltError struct {
	ID     uuid.UUID
	Status report.Status
}

func (e *NotBuiltError) Error() string {
	return fmt.Sprintf("report %s is %s: it has no PDF", e.ID, e.Status)
}

// Rebuilder builds files of reports again from the recorded inputs.
type Rebuilder struct {
	Parts
	File string // of report.PDFFile and report.Companions the one that is written; empty: the PDF
}

// NoSuchFileError reports that reports of a kind have no such file.
type NoSuchFileError struct {
	Kind report.Kind
	File string
}

func (e *NoSuchFileError) Error() string {
	return fmt.Sprintf("a %s report has no file %q that is built", e.Kind, e.File)
}

// requireFile returns a *NoSuchFileError where reports of a kind do not have the file that
// is asked for.
func (r *Rebuilder) requireFile(kind report.Kind) error {
	if wanted := cmp.Or(r.File, report.PDFFile); wanted != report.PDFFile && !slices.Contains(report.Companions(kind), wanted) {
		return &NoSuchFileError{Kind: kind, File: wanted}
	}
	return nil
}

// Rebuild builds the PDF and the companions of a report again, writes the requested one to w
// and compares all of them with the recorded digests. Another renderer's PDF is built and
// written too, but differing bytes mean nothing then. Recorded digests count only if the
// report's events verify; if they do not, nothing is built. Errors: *UnknownReportError,
// *NotBuiltError, *NoSuchFileError.
func (r *Rebuilder) Rebuild(ctx context.Context, id uuid.UUID, w io.Writer) (RebuildOutcome, error) {
	organization, err := r.owner(ctx, id)
	if err != nil {
		return RebuildOutcome{}, err
	}
	fault, err := (&proof.Prover{Events: r.Events}).Record(ctx, organization, id)
	if err != nil {
		return RebuildOutcome{}, err
	}
	if fault != "" {
		return RebuildOutcome{Verdict: RecordAltered, Organization: organization, Fault: fault}, nil
	}
	rec, err := r.load(ctx, organization, id)
	if err != nil {
		return RebuildOutcome{}, err
	}
	if rec.ready == nil {
		return RebuildOutcome{}, &NotBuiltError{ID: id, Status: rec.Status()}
	}
	if err := r.requireFile(rec.Kind()); err != nil {
		return RebuildOutcome{}, err
	}
	o := RebuildOutcome{Organization: rec.organization, Ready: *rec.ready, Renderer: r.Renderer.Identity()}
	if rec.erased != nil {
		o.Verdict, o.Erased, o.ErasedAt = InputsErased, rec.erased, rec.erasedAt
		return o, nil
	}
	inputs, digest, err := r.Blobs.ReadInputs(ctx, rec.ready.InputsKey)
	var gone *blobs.MissingFileError
	var damaged *blobs.DamagedFileError
	switch {
	case errors.As(err, &gone):
		o.Verdict = InputsMissing
		return o, nil
	case errors.As(err, &damaged), err == nil && digest != rec.ready.InputsSHA256:
		o.Verdict = InputsMismatch
		return o, nil
	case err != nil:
		return RebuildOutcome{}, err
	}
	return r.render(o, inputs, w)
}

func (r *Rebuilder) render(o RebuildOutcome, inputs []byte, w io.Writer) (RebuildOutcome, error) {
	foreign := o.Renderer != o.Ready.Renderer
	doc, err := snapshot.Decode(inputs)
	var canonical snapshot.Canonical
	if err == nil {
		canonical, err = snapshot.Canonicalize(doc)
		if err == nil && !foreign && !bytes.Equal(canonical.Bytes, inputs) {
			err = errors.New("the inputs are not in their canonical form")
		}
	}
	var sum string
	var built map[string]string
	if err == nil {
		sum, built, err = r.files(canonical, w)
	}
	switch {
	case foreign: // whether this program can build it says nothing about the other one
		o.Verdict = OtherRenderer
		return o, nil
	case err != nil:
		return RebuildOutcome{}, fmt.Errorf("build %s again: %w", o.Ready.FileName, err)
	}
	o.SHA256 = sum
	o.Verdict = Differs
	if o.SHA256 != o.Ready.PDFSHA256 {
		return o, nil
	}
	for _, f := range o.Ready.Files {
		if built[f.Name] != f.SHA256 {
			o.Other = &report.File{Name: f.Name, SHA256: built[f.Name]}
			return o, nil
		}
	}
	o.Verdict = Identical
	return o, nil
}

// files builds the PDF and the companions, writes the requested one to w, and returns the
// SHA-256 of each, in hex.
func (r *Rebuilder) files(inputs snapshot.Canonical, w io.Writer) (rendered string, companions map[string]string, err error) {
	digesting := func(name string, build func(w io.Writer) error) (string, error) {
		sum := sha256.New()
		out := io.Writer(sum)
		if name == cmp.Or(r.File, report.PDFFile) {
			out = io.MultiWriter(w, sum)
		}
		err := build(out)
		return hex.EncodeToString(sum.Sum(nil)), err
	}
	rendered, err = digesting(report.PDFFile, func(w io.Writer) error {
		_, err := r.Renderer.RenderCanonical(w, inputs)
		return err
	})
	companions, tables := map[string]string{}, companion.Of(inputs)
	for _, name := range report.Companions(report.Kind(inputs.Document.Kind)) {
		if err == nil {
			companions[name], err = digesting(name, func(w io.Writer) error { return tables.Write(w, name) })
		}
	}
	return rendered, companions, err
}
