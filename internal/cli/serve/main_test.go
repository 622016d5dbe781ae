package serve

import (
	"os"
	"testing"

	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }
