package handlers

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Points between the steps, for tests that stop a worker there.
const (
	PointStarted      = string(pointStarted)
	PointGathered     = string(pointGathered)
	PointInputsStored = string(pointInputsStored)
	PointPDFStored    = string(pointPDFStored)
	PointCommitted    = string(pointCommitted)
	PointSent         = string(pointSent)
	PointProven       = string(pointProven)
	PointSignedStored = string(pointSignedStored)
	PointPlanned      = string(pointPlanned)
	PointRun          = string(pointRun)
)

// OnPass lets a test look on, wait or fail between two steps.
func (p *Parts) OnPass(f func(ctx context.Context, at string) error) {
	p.passed = func(ctx context.Context, at point) error { return f(ctx, string(at)) }
}

// Windows is how long the files of an organization are kept from now on.
func (p *Parts) Windows(ctx context.Context, organization uuid.UUID) (reports, inputs time.Duration, err error) {
	return p.windows(ctx, organization)
}
