package alerts_test

import (
	"os"
	"testing"

	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) {
	longtest.Checks(12, 400)
	os.Exit(pgtest.Run(m))
}
