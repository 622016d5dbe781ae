package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Age moves the next transaction id of a stopped server close to xid, as pg_resetwal does; ok is false if the
// installation does not have that program, as those that scripts fetch do not.
func (s *Server) Age(t testing.TB, xid int) (ok bool) {
	t.Helper()
	program := s.install.Program("pg_resetwal")
	if _, err := os.Stat(program); err != nil { // the installation may be links to some programs
		program = filepath.Join("/usr/lib/postgresql", strconv.Itoa(s.Major), "bin", "pg_resetwal")
	}
	if _, err := os.Stat(program); err != nil {
		return false
	}
	const inFile = 32768 * 32 // of pg_xact
	xid = xid / inFile * inFile
	file := filepath.Join(s.Dir(), "pg_xact", fmt.Sprintf("%04X", xid/inFile))
	if err := os.WriteFile(file, make([]byte, 32*8192), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.account.Own(file); err != nil {
		t.Fatal(err)
	}
	reset := s.account.Command(t.Context(), program, "-x", strconv.Itoa(xid), s.Dir())
	if out, err := reset.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return true
}
