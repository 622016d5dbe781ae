package handlers

import (
	"context"
	"errors"
	"fmt"

	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"muster/domain/report"
	"muster/handlers/jobs"
	"muster/internal/concurrency/supervise"
	"muster/internal/files/blobs"
	"muster/internal/report/pdf"
)

// NoClassificationError reports that a data inventory has nothing to stand on.
type NoClassificationError struct{ Databases int }

func (e *NoClassificationError) Error() string {
	return fmt.Sprintf("no completed classification among %d databases in scope", e.Databases)
}

// SourceError reports that what a report is made of could not be read.
type SourceError struct {
	What string
	Err  error
}

func (e *SourceError) Error() string { return "read " + e.What + ": " + e.Err.Error() }

func (e *SourceError) Unwrap() error { return e.Err }

// finalFailure says how a report ends whose attempt failed in a way that trying
// again does not change.
func finalFailure(err error) (report.Failed, bool) {
	var none *NoClassificationError
	var render *pdf.RenderError
	var altered *AlteredFactsError
	if errors.As(err, &none) || errors.As(err, &render) || errors.As(err, &altered) {
		return failure(err), true
	}
	return report.Failed{}, false
}

// The classes of failures. A job's row keeps the class with the error's text, so
// that a burial that has to wait still knows how the report ends.
const (
	classNoClassification = "no_completed_classification"
	classAltered          = "facts_altered"
	classFull             = "store_full"
	classStore            = "store_unavailable"
	classAbandoned        = "abandoned"
	classRender           = "render_failed"
	classTimeout          = "timeout"
	classSource           = "source_unavailable"
	classOther            = "other"
)

// failures is how a report ends by the class of its last failure: the text of an
// error is for the log, the history gets a code and a sentence that says what a person
// can do.
var failures = map[string]report.Failed{
	classNoClassification: {Code: report.CodeNoCompletedClassification, Message: "No database in scope has a completed " +
		"classification. Switch classification on (names or values) for at least one of the instances, wait for its next " +
		"assessment, and request the report again."},
	classAltered: {Code: report.CodeFactsAltered, Message: "An assessment in scope is not the one that the log recorded. Ask the " +
		"operator of Muster to find out who changed the database, have the server assessed again, and request the report again."},
	classFull: {Code: report.CodeGenerationFailed, Message: "The place where report files are kept is full. Ask the operator " +
		"of Muster to make room there, and request the report again."},
	classStore: {Code: report.CodeGenerationFailed, Message: "The place where report files are kept could not be reached in any " +
		"attempt. Ask the operator of Muster to look at it (/readyz, check blobs), and request the report again."},
	classAbandoned: {Code: report.CodeAbandoned, Message: "The worker that built the report last died, or lost the database, " +
		"and there were no attempts left. Ask the operator of Muster to look at the workers' log and memory, and request the " +
		"report again."},
	classRender: {Code: report.CodeRenderFailed, Message: "The PDF could not be rendered from the gathered facts. Request the " +
		"report again; if it fails again, tell the operator of Muster the report's id."},
	classTimeout: {Code: report.CodeGenerationTimeout, Message: "Building took longer than allowed in every attempt. Request " +
		"the report for fewer instances, or try again when the monitored servers answer faster."},
	classSource: {Code: report.CodeSourceUnavailable, Message: "What the report is made of could not be read. Request the " +
		"report again; if it fails again, ask the operator of Muster to look at the database and the workers' log."},
	classOther: {Code: report.CodeGenerationFailed, Message: "The report could not be built. Request it again; if it fails " +
		"again, tell the operator of Muster the report's id."},
}

// failure says how a report ends whose last attempt ended with err.
func failure(err error) report.Failed {
	var altered *AlteredFactsError
	if errors.As(err, &altered) {
		return report.Failed{Code: report.CodeFactsAltered, Message: altered.sentence()}
	}
	if f, ok := failures[classOf(err)]; ok {
		return f
	}
	return failures[classOther] // the class is another release's
}

func classOf(err error) string {
	var (
		earlier   *jobs.EarlierError
		none      *NoClassificationError
		altered   *AlteredFactsError
		render    *pdf.RenderError
		full      *blobs.FullError
		away      *blobs.UnavailableError
		abandoned *jobs.AbandonedError
		source    *SourceError
		panicked  middleware.RecoveredPanicError
		within    *supervise.PanicError // of a goroutine of the attempt
	)
	switch {
	case errors.As(err, &earlier):
		return earlier.Class
	case errors.As(err, &none):
		return classNoClassification
	case errors.As(err, &altered):
		return classAltered
	case errors.As(err, &full):
		return classFull
	case errors.As(err, &away):
		return classStore
	case errors.As(err, &abandoned):
		return classAbandoned
	case errors.As(err, &render):
		return classRender
	case errors.As(err, &panicked), errors.As(err, &within):
		return classOther
	case errors.Is(err, context.DeadlineExceeded):
		return classTimeout
	case errors.As(err, &source):
		return classSource
	}
	return classOther
}
