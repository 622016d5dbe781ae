// Package pgtest gives tests a real PostgreSQL.
//
// A test binary shares one cluster, started by the first test that asks for it,
// without fsync. DB and URL give each test a database of its own, copied from a
// template that was migrated once; FilledURL's copies begin with what a package's tests
// all need. Cluster starts a further server for a test that needs other settings,
// pg_hba.conf or major version, or wants to stop it. Standby starts one that follows
// another; package failover below has pairs of which one takes over.
//
// What the shared clusters start from, the template in it, is made once in a checkout
// and kept in .cache/pgtest, under a name that holds PostgreSQL's version and a digest
// of the migrations. Data directories are in memory where that has room (MkdirTemp):
// the 92 tests of package commands take 40 s of a core so, and 86 s on ext4.
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }
//
//	func TestSomething(t *testing.T) {
//		t.Parallel()
//		db := pgtest.DB(t)
//		…
//	}
//
// TEST_POSTGRES_MAJOR=17 runs the tests on that major version, whose programs are
// looked for as the private server's are: on PATH and where packagers put them.
// Without it the newest is taken. scripts/test_majors.sh sets both. Servers that
// Muster watches may be older than those it runs on: TEST_POSTGRES_PROGRAMS lists
// directories with their programs, and Majors says which versions that makes.
//
// What may go wrong: a test binary is killed and nobody stops its servers.
// Each server has a watcher: a shell that reads from a pipe whose other end this
// process holds. When the test binary ends, however it ends, the pipe closes,
// and the watcher stops the server and removes its directory. Only a kill
// between the server's start and the writing of its postmaster.pid leaves
// one behind.
package pgtest
