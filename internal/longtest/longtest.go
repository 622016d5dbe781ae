package longtest

import (
	"os"
	"strings"
	"testing"
)

// Variable of the environment that asks for long tests.
const Variable = "MUSTER_TEST_LONG"

// Asked says whether tests may take long.
func Asked() bool { return os.Getenv(Variable) != "" }

// Only skips a test that takes long where nobody asked for it.
func Only(t testing.TB) {
	t.Helper()
	if !strings.HasPrefix(t.Name(), "TestLong") {
		t.Fatal("make test-all runs tests that take long by their names: call it TestLong…")
	}
	if !Asked() {
		t.Skip("takes long: make test-all runs it (" + Variable + "=1)")
	}
}
