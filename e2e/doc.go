// Package e2e tests the whole program, as its users see it: the command line, the HTTP API, the
// files, and what other programs receive from it.
//
// The test binary is the program. TestMain runs the command line instead of the tests if
// TEST_MUSTER_PROGRAM is set, so what a test starts, kills and starts again is compiled like the
// tests, with the race detector if they have it. Tests that need no process of their own run
// commands, and serve, inside the test binary.
//
// Tests of a single package lie beside their code.
package e2e
