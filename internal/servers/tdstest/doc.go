// Package tdstest is a server for tests that speaks a part of SQL Server's protocol, TDS 7.4: a
// client can sign in and read. So tests use the real driver, with its timeouts and errors,
// without a SQL Server.
//
// # How it works
//
// Start listens on a port of 127.0.0.1. A connection is greeted (PRELOGIN), and wrapped in TLS
// if the server has a certificate, within the protocol or before it (TDS 8.0, encrypt=strict).
// Then it signs in (LOGIN7): user, password and database are compared with those of the server,
// and refused with SQL Server's own errors. An account of Windows is asked by NTLMv2 [MS-NLMP], and its answer is
// checked with the password. Then queries come, as batches or with sp_executesql.
// A query is recognized by its first line, and answered with the rows that the test gave for it.
// SET lines at its beginning are settings, and are accepted. A query without such rows fails the
// test, unless it asks for the server's identity. A batch that sets anything beyond itself fails
// the test, too.
//
// Rows have the types of Go values: int64 becomes bigint, float64 float, bool bit, []byte
// varbinary(max), string nvarchar(max); nil is NULL.
//
// An answer may end irregularly: in an error after some rows, in silence, with a cut connection,
// or in bytes that belong to no protocol. While it is silent, the server accepts an attention,
// with which a client says that it does not want the rest, and confirms it; Deaf does not.
//
// The messages are from Microsoft's open specification [MS-TDS]: 2.2.3 (packets), 2.2.6.5
// (PRELOGIN), 2.2.6.4 (LOGIN7), 2.2.6.7 (SQLBatch), 2.2.6.6 (RPC), 2.2.1.7 (Attention), 2.2.7
// (tokens) and 2.2.5.4 (types). Numbers and texts of errors are from the documentation of SQL
// Server ("Database engine events and errors").
//
// # What may go wrong
//
//   - It is no SQL Server. It shows how the driver and Muster handle these messages, and not
//     that a SQL Server sends them.
//   - It knows no MARS, transactions and bulk load, no Kerberos, and of federated authentication only a
//     token that comes with the login. It reads only the statement of sp_executesql, not its parameters.
package tdstest
