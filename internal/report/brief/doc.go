// Package brief makes, stores and reads the brief of a report: what its page 1 says first, for the mails and messages
// that say that the report is ready.
//
// # How it works
//
// Of makes the brief from the inputs of the report, with the functions that print page 1, so a mail and the report
// cannot differ. The build stores it in the transaction that records report.ready. It names servers, logins and teams,
// so it is not part of the event: it is deleted with the report's files when the report expires.
//
// # What may go wrong
//
// A report has no brief if an earlier version built it, if it has expired, or if its kind has no verdict. Its mails
// and messages then have only the figures of report.ready.
package brief
