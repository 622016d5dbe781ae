// Package tdstest is a server for tests that speaks the protocol of SQL Server, TDS 7.4,
// as far as a client needs it that signs in and reads: so that the driver, its time-outs
// and its errors are the real ones, though no SQL Server is there.
//
// # How it works
//
// Start listens on a port of 127.0.0.1. A connection is greeted (PRELOGIN), wrapped in TLS
// where the server has a certificate, within the protocol or before it (TDS 8.0, encrypt=strict),
// and signs in (LOGIN7): user, password and database are compared with what the server was
// started with, and refused with the errors that SQL Server has for it. Then come queries, as
// batches or by sp_executesql. A query is known by its first line, and answered with the rows
// that the test gave for it; lines of SET that it begins with are settings, and taken. A query
// that nobody gave rows for fails the test, unless it asks which server this is, and so does a batch that sets anything for more
// than itself.
//
// Rows have the types of Go values: int64 becomes bigint, float64 float, bool bit, []byte
// varbinary(max), string nvarchar(max); nil is NULL.
//
// An answer may end otherwise than it should: in an error after some rows, in silence, with
// the connection cut, or in bytes that are of no protocol. While it is silent the server
// takes an attention, by which a client says that it does not want the rest, and confirms
// it; Deaf does not.
//
// The messages are from Microsoft's open specification [MS-TDS]: 2.2.3 (packets), 2.2.6.5
// (PRELOGIN), 2.2.6.4 (LOGIN7), 2.2.6.7 (SQLBatch), 2.2.6.6 (RPC), 2.2.1.7 (Attention), 2.2.7
// (tokens) and 2.2.5.4 (types). Numbers and texts of errors are from the documentation of
// SQL Server ("Database engine events and errors").
//
// # What may go wrong
//
//   - It is no SQL Server. What it shows is how the driver and we behave for these messages,
//     and not that a SQL Server sends them.
//   - It knows no MARS, transactions, bulk load, integrated or federated authentication, and
//     of sp_executesql the statement only, not its parameters.
package tdstest
