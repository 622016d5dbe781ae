// Package clickhousetest gives tests real ClickHouse servers.
//
// Start starts a cluster for one test, which can stop, kill and restart its servers. Shared is
// one of two shards that all tests of a binary use, each with its own database. They are
// Debian's clickhouse-server, with little memory and without its caches, on free ports of
// 127.0.0.1. If the program is not installed, the test is skipped, or fails with
// MUSTER_TEST_CLICKHOUSE=required.
//
// What may go wrong: a test binary is killed and nobody stops its servers. Each cluster has a
// watcher, like those of pgtest: a shell that reads from a pipe whose other end this process
// holds. When the pipe closes, however the test binary ends, the watcher kills the servers and
// removes their directory.
package clickhousetest
