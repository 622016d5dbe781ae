// Package tnstest is a listener for tests that speaks the protocol of Oracle, TNS and TTC,
// as far as a client needs it that is refused, sent elsewhere, or signs in and reads text:
// so that the driver, its deadlines and its errors are the real ones, though no Oracle is
// there.
//
// # How it works
//
// Start listens on a port of 127.0.0.1. What it does with a connection is in Options: it
// hangs, resets, speaks another protocol, refuses with a number (REFUSE), sends the client
// on (REDIRECT), or accepts (ACCEPT, of version 314, which has short lengths). Who is
// accepted negotiates protocol and types, signs in with any password, or is refused by
// number then, and asks. A query is known by its first line and answered with rows of
// texts and numbers, after which the connection may stall, be cut, or answer what makes no sense.
//
// The messages are those that the driver expects (github.com/sijms/go-ora/v2, read, not
// copied): Oracle publishes no specification of them.
//
// # What may go wrong
//
//   - It is no Oracle. What it shows is how the driver and we behave for these messages,
//     and not that a server sends them.
//   - It knows no encryption of its own beside TLS, no types but texts and numbers, no transactions.
package tnstest
