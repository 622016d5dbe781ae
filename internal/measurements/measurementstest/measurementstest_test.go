package measurementstest_test

import (
	"os"
	"testing"

	"muster/internal/measurements/measurementstest"
	"muster/internal/testing/longtest"
)

func TestMain(m *testing.M) {
	longtest.Checks(25, 400)
	os.Exit(m.Run())
}

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
