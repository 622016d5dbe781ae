// Package porttest reserves ports for tests, so that no other process gets them.
//
// Some servers of tests need their port before they listen: PostgreSQL, ClickHouse, an object
// store, a replica behind nginx. Others come back to the port they had, and some tests want a port
// on which nobody listens. A port that the kernel chose (127.0.0.1:0) and that was closed again is
// free for everybody: the kernel gives it to the next listener, or to the next connection. In CI,
// The test of `make chaos` once failed for this reason, with "address already in use".
//
// Ports are taken from below the range that the kernel chooses from. A port belongs to the test
// process that took it until the process ends, however it ends: the process holds a UDP port that
// belongs to it (markOf). The browser tests take theirs in the same way (web/e2e/ports.ts).
//
// Alone is for tests of programs without a network.
//
// What may go wrong: a program that is no test listens on a port of the range after it was taken. A
// machine whose kernel chooses from below 32000, too (ip_local_port_range), may give the port to a
// connection.
package porttest
