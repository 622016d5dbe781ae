package measurementstest_test

import (
	"testing"

	"muster/internal/measurements/measurementstest"
)

// TestReference: the reference with which a store is compared passes the suite itself.
func TestReference(t *testing.T) {
	t.Parallel()
	measurementstest.Run(t, func(testing.TB) measurementstest.Harness { return measurementstest.NewReference().Harness() })
}

// TestProperty: two references agree, so that what differs is the store.
func TestProperty(t *testing.T) {
	t.Parallel()
	measurementstest.RunProperty(t, func(testing.TB) measurementstest.Harness { return measurementstest.NewReference().Harness() })
}
