package handlers

import (
	"context"
	"errors"
	"fmt"

	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"muster/domain/report"
	"muster/handlers/jobs"
	"muster/internal/blobs"
	"muster/internal/pdf"
)

// BuildError is a failure that trying again does not change, with the code and
// the sentence that the history shows.
type BuildError struct {
	Code     string
	Sentence string
	Err      error
}

func (e *BuildError) Error() string { return fmt.Sprintf("%s: %v", e.Code, e.Err) }

func (e *BuildError) Unwrap() error { return e.Err }

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

// The sentences of a Failed report. Each says what a person can do.
const (
	sentenceNoClassification = "No database in scope has a completed classification. Switch classification on " +
		"(names or values) for at least one of the instances, wait for its next assessment, and request the report again."
	sentenceTimeout = "Building took longer than allowed in every attempt. Request the report for fewer instances, " +
		"or try again when the monitored servers answer faster."
	sentenceSource = "What the report is made of could not be read. Request the report again; if it fails again, " +
		"ask the operator of Muster to look at the database and the workers' log."
	sentenceRender = "The PDF could not be rendered from the gathered facts. Request the report again; if it fails " +
		"again, tell the operator of Muster the report's id."
	sentenceFull = "The place where report files are kept is full. Ask the operator of Muster to make room there, " +
		"and request the report again."
	sentenceAbandoned = "The worker died in each attempt to build the report. Ask the operator of Muster to look at " +
		"the workers' log and memory, and request the report again."
	sentenceGeneral = "The report could not be built. Request it again; if it fails again, tell the operator of " +
		"Muster the report's id."
)

// finalFailure says how a report ends whose attempt failed in a way that trying
// again does not change.
func finalFailure(err error) (report.Failed, bool) {
	var none *NoClassificationError
	var render *pdf.RenderError
	var build *BuildError
	if errors.As(err, &none) || errors.As(err, &render) || errors.As(err, &build) {
		return failure(err), true
	}
	return report.Failed{}, false
}

// failure says how a report ends whose last attempt ended with err. The text of
// an error is for the log; the history gets a code and a sentence.
func failure(err error) report.Failed {
	var (
		none      *NoClassificationError
		render    *pdf.RenderError
		full      *blobs.FullError
		abandoned *jobs.AbandonedError
		source    *SourceError
		build     *BuildError
		panicked  middleware.RecoveredPanicError
	)
	switch {
	case errors.As(err, &none):
		return report.Failed{Code: report.CodeNoCompletedClassification, Message: sentenceNoClassification}
	case errors.As(err, &full):
		return report.Failed{Code: report.CodeGenerationFailed, Message: sentenceFull}
	case errors.As(err, &abandoned):
		return report.Failed{Code: report.CodeAbandoned, Message: sentenceAbandoned}
	case errors.As(err, &build):
		return report.Failed{Code: build.Code, Message: build.Sentence}
	case errors.As(err, &render):
		return report.Failed{Code: report.CodeRenderFailed, Message: sentenceRender}
	case errors.As(err, &panicked):
		return report.Failed{Code: report.CodeGenerationFailed, Message: sentenceGeneral}
	case errors.Is(err, context.DeadlineExceeded):
		return report.Failed{Code: report.CodeGenerationTimeout, Message: sentenceTimeout}
	case errors.As(err, &source):
		return report.Failed{Code: report.CodeSourceUnavailable, Message: sentenceSource}
	}
	return report.Failed{Code: report.CodeGenerationFailed, Message: sentenceGeneral}
}
