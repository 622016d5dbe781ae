// Package tnstest is a listener for tests that speaks a part of Oracle's protocols, TNS and TTC:
// it refuses or redirects a client, or lets it sign in and read text. So tests use the real
// driver, with its deadlines and errors, without an Oracle.
//
// # How it works
//
// Start listens on a port of 127.0.0.1. Options says what it does with a connection: it hangs,
// resets, speaks another protocol, refuses with a number (REFUSE), redirects the client
// (REDIRECT), or accepts (ACCEPT, of version 314, which has short lengths). An accepted client
// negotiates protocol and types. Then it signs in with any password, or is refused by number,
// and sends queries. A query is recognized by its first line and answered with rows of texts and
// numbers. After that the connection may stall, be cut, or send a nonsensical answer.
//
// The messages are those that the driver expects (github.com/sijms/go-ora/v2, read, not copied):
// Oracle publishes no specification of them.
//
// # What may go wrong
//
//   - It is no Oracle. It shows how the driver and Muster handle these messages, and not that a
//     server sends them.
//   - It knows no encryption besides TLS, no types but texts and numbers, and no transactions.
package tnstest
