package handlers

import (
	"bytes"
	"context"
	"errors"
	"io"

	"muster/internal/blobs"
	"muster/internal/pdf"
	"muster/internal/snapshot"
)

// storeInputs keeps the canonical bytes of the inputs document.
func (b *Builder) storeInputs(ctx context.Context, name string, doc snapshot.Document) (blobs.Written, error) {
	inputs, err := snapshot.Encode(doc)
	if err != nil {
		return blobs.Written{}, &pdf.RenderError{Report: doc.ReportID.String(), Cause: err}
	}
	return b.Blobs.WriteInputs(ctx, name, bytes.NewReader(inputs))
}

// storePDF renders straight into the store: a document of 2,000 pages is in
// memory once, as the renderer builds it.
func (b *Builder) storePDF(ctx context.Context, name string, doc snapshot.Document) (blobs.Written, pdf.Rendered, error) {
	type outcome struct {
		rendered pdf.Rendered
		err      error
	}
	reader, writer := io.Pipe()
	done := make(chan outcome, 1)
	go func() {
		rendered, err := b.Renderer.Render(writer, doc)
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

// errStoreStopped ends a rendering whose output nobody takes any more.
var errStoreStopped = errors.New("the store takes no more")
