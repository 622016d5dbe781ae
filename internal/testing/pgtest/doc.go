// Package pgtest gives tests a real PostgreSQL.
//
// A test binary shares one cluster without fsync, which the first test that needs it starts. DB
// and URL give each test a database of its own, copied from a template that was migrated once.
// The copies of FilledURL begin with data that all tests of a package need. Common returns a
// test whose cleanups run after all tests, for fixtures that tests share. Cluster starts a
// further server for a test that needs other settings, pg_hba.conf or major version, or stops
// the server. Standby starts one that follows another; package failover below has pairs of
// servers, one of which takes over.
//
// The shared clusters start from a prepared directory with the template. It is made once in a
// checkout and kept in .cache/pgtest, under a name that contains PostgreSQL's version and a
// digest of the migrations. All other servers start from a copy of what initdb made once, kept there
// too, with system identifiers of their own. Data directories are in memory if it has room (MkdirTemp): the 92
// tests of package commands then take 40 s of a core, and 86 s on ext4.
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }
//
//	func TestSomething(t *testing.T) {
//		t.Parallel()
//		db := pgtest.DB(t)
//		…
//	}
//
// TEST_POSTGRES_MAJOR=17 runs the tests on that major version, whose programs are looked for as
// those of the private server are: on PATH and where packagers put them. Without it, the newest
// version is used. scripts/test_majors.sh sets both. Servers that Muster monitors may be older
// than those on which it runs: TEST_POSTGRES_PROGRAMS lists directories with their programs, and
// Majors returns their versions, or else the version of the other tests.
//
// What may go wrong: a test binary is killed and nobody stops its servers. Each server has a
// watcher: a shell that reads from a pipe whose other end this process holds. When the test
// binary ends, in whatever way, the pipe closes, and the watcher stops the server and removes
// its directory. Only a kill between the server's start and the writing of its postmaster.pid
// leaves a server behind.
package pgtest
