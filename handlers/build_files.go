package handlers

import (
	"bytes"
	"context"
	"errors"
	"io"

	"muster/domain/report"
	"muster/handlers/jobs"
	"muster/internal/concurrency/supervise"
	"muster/internal/files/blobs"
	"muster/internal/report/brief"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/companion"
)

// render makes the PDF and what goes with it at the same time, as well as what Ready and mails
// say of the findings: the disk is waited for once. Organizations take turns at it: it uses the
// processors, and memory for the whole document.
func (b *Builder) render(ctx context.Context, job jobs.Claimed, name string, inputs snapshot.Canonical, files *stored) error {
	leave, err := b.rendering.Pass(ctx, job.OrganizationID)
	if err != nil {
		return err
	}
	defer leave()
	group, ctx := supervise.WithContext(ctx)
	group.Go(func() (err error) {
		files.pdf, files.rendered, err = b.storePDF(ctx, name, inputs)
		return err
	})
	group.Go(func() error {
		if says, ok := brief.Of(inputs.Document); ok {
			files.brief = &says
		}
		files.findings = brief.Findings(inputs.Document)
		return nil
	})
	names, tables := report.Companions(report.Kind(inputs.Document.Kind)), companion.Of(inputs)
	files.companions = make([]report.File, len(names))
	for i, name := range names {
		group.Go(func() (err error) {
			files.companions[i], err = b.storeCompanion(ctx, job, name, tables)
			return err
		})
	}
	return group.Wait()
}

func (b *Builder) storeCompanion(ctx context.Context, job jobs.Claimed, name string, tables *companion.Set) (report.File, error) {
	var table bytes.Buffer
	if err := tables.Write(&table, name); err != nil {
		return report.File{}, err
	}
	written, err := b.Blobs.WriteCompanion(ctx, blobs.CompanionName(job.OrganizationID, job.Subject, job.Fence, name), &table)
	return report.File{Name: name, Key: written.Name, SizeBytes: written.SizeBytes, SHA256: written.SHA256}, err
}

// storePDF renders straight into the store: a document of 2,000 pages is in
// memory once, as the renderer builds it.
func (b *Builder) storePDF(ctx context.Context, name string, inputs snapshot.Canonical) (blobs.Written, pdf.Rendered, error) {
	type outcome struct {
		rendered pdf.Rendered
		err      error
	}
	reader, writer := io.Pipe()
	done := make(chan outcome, 1)
	go func() {
		rendered, err := supervise.Value(func() (pdf.Rendered, error) { return b.Renderer.RenderCanonical(writer, inputs) })
		_ = writer.CloseWithError(err) // nil: end of file
		done <- outcome{rendered, err}
	}()
	written, storeErr := b.Blobs.WritePDF(ctx, name, reader)
	_ = reader.CloseWithError(errStoreStopped)
	out := <-done
	switch {
	case storeErr == nil:
		return written, out.rendered, out.err
	case out.err != nil && !errors.Is(out.err, errStoreStopped):
		return blobs.Written{}, pdf.Rendered{}, out.err
	}
	return blobs.Written{}, pdf.Rendered{}, storeErr
}

// errStoreStopped ends a rendering whose output is no longer read.
var errStoreStopped = errors.New("the store takes no more")
