package handlers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/instant"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/concurrency/fairslots"
	"muster/internal/concurrency/supervise"
	"muster/internal/files/blobs"
	"muster/internal/process/telemetry"
	"muster/internal/report/brief"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
)

// Gathering is what a build asks for.
type Gathering struct {
	OrganizationID uuid.UUID
	ReportID       uuid.UUID
	Queued         report.Queued
	RequestedAt    time.Time
	Again          bool // an attempt at it has failed
}

// Gatherer assembles the inputs of a report as of one instant, not yet normalized. Errors:
// *NoClassificationError, *AlteredFactsError, *SourceError.
type Gatherer interface {
	Gather(ctx context.Context, g Gathering) (snapshot.Document, error)
	// Findings is the digest of what such a document would find now (report.Findings).
	Findings(ctx context.Context, g Gathering) (string, error)
}

// Renderer makes the PDF; *pdf.Renderer is one.
type Renderer interface {
	RenderCanonical(w io.Writer, inputs snapshot.Canonical) (pdf.Rendered, error)
	Identity() report.Renderer
}

// Builder builds reports.
type Builder struct {
	Parts
	rendering *fairslots.Gate // Task makes it
}

// point is a place between two steps of a handler.
type point string

// The points of a build.
const (
	pointStarted      point = "started"
	pointGathered     point = "gathered"
	pointInputsStored point = "inputs stored"
	pointPDFStored    point = "pdf stored"
	pointCommitted    point = "committed"
)

func (p *Parts) pass(ctx context.Context, at point) error {
	if p.passed == nil {
		return nil
	}
	return p.passed(ctx, at)
}

// The steps of a build as the history shows them.
const totalSteps = 3

var stepLabels = [totalSteps]string{"Gathering what is known", "Keeping the inputs", "Rendering the PDF"}

// buildTimeout is the end of one attempt.
const buildTimeout = 10 * time.Minute

// buildAttempts is how often a build is tried (contract, §19).
const buildAttempts = 5

// Task is how build jobs are worked on: one a core would starve the rest of the
// process, so a few at once.
func (b *Builder) Task(concurrency int) Task {
	b.rendering = fairslots.NewSharedGate(rendersAtOnce)
	return Task{
		Kind: jobs.Build, Timeout: buildTimeout, Handle: b.Handle,
		Policy: jobs.Policy{Concurrency: concurrency, MaxAttempts: buildAttempts, Dead: b.dead, Class: classOf},
	}
}

// Handle builds one report: Ready, or Failed if another attempt cannot help, or an error.
func (b *Builder) Handle(ctx context.Context, job jobs.Claimed) error {
	rec, err := b.load(ctx, job.OrganizationID, job.Subject)
	if isUnknown(err) || err == nil && rec.over() {
		return nil // an earlier attempt ended it, or there never was one: nothing left to do
	}
	if err != nil {
		return err
	}
	if err := b.start(ctx, job); err != nil {
		return err
	}
	built, err := b.build(ctx, job, rec)
	if err == nil {
		err = b.publish(ctx, job, rec.queued, built)
	}
	status := report.StatusReady
	if failed, ok := finalFailure(err); ok {
		status, err = report.StatusFailed, b.fail(ctx, job, failed)
	}
	if err == nil {
		b.ended(rec, status)
	}
	return err
}

func (b *Builder) ended(rec *recorded, status report.Status) {
	if b.Ended != nil {
		b.Ended(rec.queued.Kind, status, max(0, b.Now().Sub(rec.requestedAt))) // the clocks of two processes
	}
}

// start records who is at work. From the second attempt on the trail shows a
// resumption and why.
func (b *Builder) start(ctx context.Context, job jobs.Claimed) error {
	err := eventstore.Transact(ctx, b.DB, func(tx *sqlx.Tx) error {
		if err := b.begin(ctx, tx, job, 1); err != nil {
			return err
		}
		_, err := b.Reports.StartBuild(ctx, tx, job.OrganizationID, job.Subject, job.WorkerID, job.Attempt, resumption(job))
		return err
	})
	if err != nil {
		return fmt.Errorf("start report %s: %w", job.Subject, err)
	}
	return b.pass(ctx, pointStarted)
}

// resumption says why an attempt follows another one; the first attempt has no reason.
func resumption(job jobs.Claimed) string {
	if n := len(job.Endings); n > 0 {
		switch job.Endings[n-1].How {
		case jobs.EndedFailed:
			return "the attempt before failed"
		case jobs.EndedReturned:
			return "the worker before was stopped"
		case jobs.EndedInterrupted:
			return "the database was away or did not commit"
		}
	}
	return "the worker before did not finish"
}

// stored is what the steps of a build have put into the store.
type stored struct {
	inputs     blobs.Written
	pdf        blobs.Written
	rendered   pdf.Rendered
	companions []report.File
	brief      *report.Brief // nil: the kind has none
	findings   *report.Findings
}

type built struct {
	ready  report.Ready
	people []uuid.UUID // the members whom the inputs name
	brief  *report.Brief
}

// build makes the files and returns the Ready that names them.
func (b *Builder) build(ctx context.Context, job jobs.Claimed, rec *recorded) (made built, err error) {
	pdfName := blobs.PDFName(job.OrganizationID, job.Subject, job.Fence)
	inputsName := blobs.InputsName(job.OrganizationID, job.Subject, job.Fence)
	names := []string{pdfName, inputsName}
	for _, name := range report.Companions(rec.queued.Kind) {
		names = append(names, blobs.CompanionName(job.OrganizationID, job.Subject, job.Fence, name))
	}
	var inputs snapshot.Canonical
	var files stored
	rendering := &supervise.Group{}
	rendered, stop := context.WithCancel(ctx)
	defer func() {
		stop()
		if err != nil { // no event can name them: make room at once, on a full disk it is needed
			_ = rendering.Wait() // its output is discarded
			for _, name := range names {
				if b.Blobs.Delete(context.WithoutCancel(ctx), name) != nil {
					break // a store that is away delays us once; its leftovers are swept
				}
			}
		}
	}()
	steps := [totalSteps]struct {
		name string // of the span
		do   func(ctx context.Context) error
		then point
	}{
		{"gather", func(ctx context.Context) error { inputs, err = b.gather(ctx, job, rec); return err }, pointGathered},
		// One core lays pages out while the other packs the inputs and the disk is waited for.
		{"keep inputs", func(ctx context.Context) error {
			rendering.Go(func() error { return b.render(rendered, job, pdfName, inputs, &files) })
			files.inputs, err = b.Blobs.WriteInputs(ctx, inputsName, bytes.NewReader(inputs.Bytes))
			return err
		}, pointInputsStored},
		{"render", func(context.Context) error { return rendering.Wait() }, pointPDFStored},
	}
	for i, step := range steps {
		within, end := telemetry.Step(ctx, step.name)
		err := step.do(within)
		end(err)
		if err != nil {
			return built{}, err
		}
		if err := b.completeStep(ctx, job, i+1); err != nil {
			return built{}, err
		}
		if err := b.pass(ctx, step.then); err != nil {
			return built{}, err
		}
	}
	made.people, made.brief = inputs.Document.People(), files.brief
	made.ready, err = b.ready(ctx, inputs, files)
	return made, err
}

// begin holds the job in the transaction that ends the step before, and shows which step is next:
// a transaction of its own would be one more flush of the database's disk for each.
func (b *Builder) begin(ctx context.Context, tx *sqlx.Tx, job jobs.Claimed, step int) error {
	step = min(step, totalSteps)
	return b.Queue.SetProgress(ctx, tx, job, step, totalSteps, stepLabels[step-1])
}

func (b *Builder) completeStep(ctx context.Context, job jobs.Claimed, step int) error {
	err := eventstore.Transact(ctx, b.DB, func(tx *sqlx.Tx) error {
		if err := b.begin(ctx, tx, job, step+1); err != nil {
			return err
		}
		_, err := b.Reports.CompleteStep(ctx, tx, job.OrganizationID, job.Subject,
			report.StepCompleted{Step: step, TotalSteps: totalSteps, Label: stepLabels[step-1]})
		return err
	})
	if err != nil {
		return fmt.Errorf("record step %d of report %s: %w", step, job.Subject, err)
	}
	return nil
}

func (b *Builder) gather(ctx context.Context, job jobs.Claimed, rec *recorded) (snapshot.Canonical, error) {
	doc, err := b.Gatherer.Gather(ctx, Gathering{
		OrganizationID: job.OrganizationID, ReportID: job.Subject, Queued: rec.queued, RequestedAt: rec.requestedAt,
		Again: job.Attempt > 1,
	})
	if err != nil {
		return snapshot.Canonical{}, err
	}
	inputs, err := snapshot.Canonicalize(doc)
	if err != nil {
		return snapshot.Canonical{}, &pdf.RenderError{Report: job.Subject.String(), Cause: err}
	}
	return inputs, nil
}

// ready names the files and the windows that are in force now.
func (b *Builder) ready(ctx context.Context, gathered snapshot.Canonical, files stored) (report.Ready, error) {
	doc, inputs, file, rendered := gathered.Document, files.inputs, files.pdf, files.rendered
	if rendered.InputsSHA256 != inputs.SHA256 || rendered.SHA256 != file.SHA256 {
		return report.Ready{}, fmt.Errorf("report %s: what was stored is not what was rendered", doc.ReportID)
	}
	keep, keepInputs, err := b.windows(ctx, doc.Organization.ID)
	if err != nil {
		return report.Ready{}, err
	}
	var names []string
	if len(doc.Instances) == 1 {
		names = []string{doc.Instances[0].Name}
	}
	database := ""
	if doc.Database != nil {
		database = doc.Database.Name
	}
	return report.Ready{
		AsOf:             doc.AsOf,
		InputsSHA256:     inputs.SHA256,
		InputsKey:        inputs.Name,
		PDFSHA256:        file.SHA256,
		PDFKey:           file.Name,
		FileName:         report.FileName(report.Kind(doc.Kind), names, database, doc.AsOf),
		SizeBytes:        file.SizeBytes,
		Pages:            rendered.Pages,
		Renderer:         b.Renderer.Identity(),
		Witness:          report.Witness{Log: doc.Witness.Log, Position: doc.Witness.Position, Hash: doc.Witness.Hash},
		RetentionSeconds: max(1, int64(keep/time.Second)),
		InputsErasedOn:   instant.Cut(b.Now().Add(keepInputs)),
		InputsSizeBytes:  int64(len(gathered.Bytes)),
		Files:            files.companions,
		Findings:         files.findings,
	}, nil
}

// publish marks the outcome as built by this program, and commits it with everything that follows
// from it. Where the answer to the commit is lost, the files stay: the log may name them.
func (b *Builder) publish(ctx context.Context, job jobs.Claimed, queued report.Queued, made built) error {
	err := b.end(ctx, job, fmt.Sprintf("publish report %s", job.Subject), func(tx *sqlx.Tx) (mark usecase.Mark, err error) {
		if made.ready, err = b.Proofs.Mark(ctx, tx, job.OrganizationID, job.Subject, queued, made.ready); err != nil {
			return mark, err
		}
		return b.Reports.MarkReady(ctx, tx, job.OrganizationID, job.Subject, made.ready, func(recorded report.Ready) error {
			if err := b.follow(ctx, tx, job, recorded); err != nil {
				return err
			}
			if made.brief != nil {
				if err := brief.Keep(ctx, tx, job.OrganizationID, job.Subject, *made.brief); err != nil {
					return err
				}
			}
			return b.Reports.RecordPeople(ctx, tx, job.OrganizationID, job.Subject, made.people)
		})
	})
	if err != nil {
		return err
	}
	return b.pass(ctx, pointCommitted)
}

func (b *Builder) follow(ctx context.Context, tx *sqlx.Tx, job jobs.Claimed, ready report.Ready) error {
	next := jobs.Job{OrganizationID: job.OrganizationID, Subject: job.Subject}
	for _, member := range ready.RecipientIDs {
		next.Kind, next.Key, next.Wait = jobs.Mail, member.String(), b.MailWait
		if err := b.Queue.Insert(ctx, tx, next); err != nil {
			return err
		}
	}
	next.Kind, next.Key, next.RunAt, next.Wait = jobs.Expire, "", ready.ExpiresAt, 0
	if err := b.Queue.Insert(ctx, tx, next); err != nil {
		return err
	}
	next.Kind, next.Key, next.RunAt = jobs.Sign, "", time.Time{}
	if err := b.Queue.Insert(ctx, tx, next); err != nil {
		return err
	}
	next.Kind, next.Key, next.RunAt = jobs.Erase, jobs.EraseInputs, ready.InputsErasedOn
	return b.Queue.Insert(ctx, tx, next)
}

// fail ends the report if another attempt cannot help.
func (b *Builder) fail(ctx context.Context, job jobs.Claimed, failed report.Failed) error {
	return b.end(ctx, job, fmt.Sprintf("end report %s as Failed", job.Subject), func(tx *sqlx.Tx) (usecase.Mark, error) {
		return b.Reports.MarkFailed(ctx, tx, job.OrganizationID, job.Subject, failed)
	})
}

// dead ends a report whose last attempt failed, or whose workers died.
func (b *Builder) dead(ctx context.Context, tx *sqlx.Tx, job jobs.Claimed, cause error) (committed func(), err error) {
	rec, err := b.loadFrom(ctx, tx, job.OrganizationID, job.Subject)
	if isUnknown(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := b.Reports.MarkFailed(ctx, tx, job.OrganizationID, job.Subject, failure(cause)); err != nil {
		return nil, unlessOver(err)
	}
	return func() { b.ended(rec, report.StatusFailed) }, nil
}

// unlessOver ignores the error that there is nothing left to decide.
func unlessOver(err error) error {
	var over *report.TransitionError
	var unknown *usecase.NotFoundError
	if errors.As(err, &over) || errors.As(err, &unknown) {
		return nil
	}
	return err
}
