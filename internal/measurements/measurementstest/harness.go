package measurementstest

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/internal/measurements"
)

// Harness is a store under test, with what a test needs besides.
type Harness struct {
	Store measurements.Store
	// Roll makes everything that was written visible in the series.
	Roll func(ctx context.Context) error
	// Age makes everything that was written have arrived that much earlier.
	Age func(ctx context.Context, by time.Duration) error
	// Seal deletes what may be deleted: the raw samples of hours for which none has arrived for
	// 72 hours, and data beyond its retention.
	Seal func(ctx context.Context) error
}

// Open returns a store that no other test uses while the test runs; it may contain data of
// other tests.
type Open func(t testing.TB) Harness

// tester is a test, or a try of a property.
type tester interface {
	rapid.TB
	Context() context.Context
}
