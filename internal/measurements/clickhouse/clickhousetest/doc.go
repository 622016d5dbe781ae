// Package clickhousetest gives tests real ClickHouse servers.
//
// Start starts a cluster of a test's own, whose servers it can stop, kill and start again;
// Shared is one of two shards that all tests of a binary use, each with a database of its
// own. They are Debian's clickhouse-server, with little memory and without its caches,
// on free ports of 127.0.0.1. Where the program is not installed, the test is skipped,
// or, with MUSTER_TEST_CLICKHOUSE=required, fails.
//
// What may go wrong: a test binary is killed and nobody stops its servers. Each cluster
// has a watcher, as those of pgtest have: a shell that reads from a pipe whose other end
// this process holds. When that closes, however the test binary ends, it kills the servers
// and removes their directory.
package clickhousetest
