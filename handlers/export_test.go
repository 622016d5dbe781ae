package handlers

import "context"

// Points between the steps, for tests that stop a worker there.
const (
	PointStarted      = string(pointStarted)
	PointGathered     = string(pointGathered)
	PointInputsStored = string(pointInputsStored)
	PointPDFStored    = string(pointPDFStored)
	PointCommitted    = string(pointCommitted)
	PointSent         = string(pointSent)
)

// OnPass lets a test look on, wait or fail between two steps.
func (b *Builder) OnPass(f func(ctx context.Context, at string) error) {
	b.passed = func(ctx context.Context, p point) error { return f(ctx, string(p)) }
}

// OnPass lets a test look on, wait or fail between two steps.
func (m *Mailer) OnPass(f func(ctx context.Context, at string) error) {
	m.passed = func(ctx context.Context, p point) error { return f(ctx, string(p)) }
}
