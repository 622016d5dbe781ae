package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/report/snapshot"
)

// Recorded is what is known of a report without its log.
type Recorded struct {
	// Ready is the report's event where Whole, as its proof has it; else it names the PDF's
	// SHA-256 alone.
	Ready report.Ready
	Whole bool
	Fault string // the part of the proof that does not match; empty: none
}

// NoInputsError says that a file is not the inputs document of a report as Muster wrote it.
type NoInputsError struct{ Err error }

func (e *NoInputsError) Error() string {
	return "it is no inputs document of a report: " + e.Err.Error()
}

func (e *NoInputsError) Unwrap() error { return e.Err }

var (
	errNoReport = errors.New("it names no report")
	errNotOurs  = errors.New("it is not in the form in which this version writes one, so it was changed, or another version built the report")
)

// ReadInputs reads an inputs document from a file. Errors: *NoInputsError.
func ReadInputs(inputs []byte) (snapshot.Document, error) {
	doc, err := snapshot.Decode(inputs)
	if err == nil && doc.ReportID == uuid.Nil {
		err = errNoReport
	}
	if err != nil {
		return snapshot.Document{}, &NoInputsError{err}
	}
	return doc, nil
}

// RebuildInputs is Rebuild without log, database and store: it builds the files of the report
// of an inputs document, and compares them with its record; nil: with nothing. It needs the
// renderer alone. If the recorded event is complete, its verdicts are Rebuild's. If only the
// PDF's digest is known, it cannot tell whether another renderer built it. Errors:
// *NoInputsError, *NoSuchFileError.
func (r *Rebuilder) RebuildInputs(inputs []byte, recorded *Recorded, w io.Writer) (RebuildOutcome, error) {
	o := RebuildOutcome{Renderer: r.Renderer.Identity()}
	whole := recorded != nil && recorded.Whole
	digest := snapshot.Digest(inputs)
	if recorded != nil {
		o.Ready, o.Fault = recorded.Ready, recorded.Fault
	}
	switch {
	case o.Fault != "":
		o.Verdict = RecordAltered
		return o, nil
	case whole && digest != o.Ready.InputsSHA256:
		o.Verdict = InputsMismatch
		o.Fault = fmt.Sprintf("their SHA-256 is %s, recorded is %s: they were changed, or are another report's", digest, o.Ready.InputsSHA256)
		return o, nil
	}
	doc, err := ReadInputs(inputs)
	if err != nil && !whole { // a newer program's, which is then named
		return RebuildOutcome{}, err
	}
	if err == nil {
		o.Organization = doc.Organization.ID
		if err := r.requireFile(report.Kind(doc.Kind)); err != nil {
			return RebuildOutcome{}, err
		}
	}
	if whole {
		return r.render(o, inputs, w)
	}
	o.Ready.InputsSHA256 = digest
	canonical, err := snapshot.Canonicalize(doc)
	switch {
	case err != nil:
		return RebuildOutcome{}, err
	case !bytes.Equal(canonical.Bytes, inputs):
		return RebuildOutcome{}, &NoInputsError{errNotOurs}
	}
	if o.SHA256, _, err = r.files(canonical, w); err != nil {
		return RebuildOutcome{}, fmt.Errorf("build report %s again: %w", doc.ReportID, err)
	}
	switch {
	case recorded == nil:
		o.Verdict = Built
	case o.SHA256 == o.Ready.PDFSHA256:
		o.Verdict = Identical
	default:
		o.Verdict = Differs
		o.Fault = fmt.Sprintf("this is version %s (commit %s), and only the report's proof says which one built it", o.Renderer.Version, o.Renderer.Commit)
	}
	return o, nil
}
