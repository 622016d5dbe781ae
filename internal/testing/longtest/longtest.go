package longtest

import (
	"flag"
	"os"
	"strconv"
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

// Checks has each property of package rapid tried as often as few says instead of a
// hundred times, and as many says where tests may take long: where one case takes tens of
// milliseconds, because a database is asked. Each run draws other cases, and a failure prints the
// seed that draws them again. Whoever sets -rapid.checks decides. It is for TestMain, and parses
// the flags.
func Checks(few, many int) {
	flag.Parse()
	f := flag.Lookup("rapid.checks")
	if f.Value.String() != f.DefValue {
		return
	}
	if Asked() {
		few = many
	}
	if err := f.Value.Set(strconv.Itoa(few)); err != nil {
		panic(err)
	}
}
