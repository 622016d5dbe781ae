// Package sent keeps the mails about reports as they were sent, byte for byte, while their
// report is offered.
//
// A mail is kept in the transaction that records that it was sent, and so is there exactly
// where the report's trail says emailSent. It is deleted with the report's PDF, and when
// somebody is erased whom it names: its recipient, or who asked for them.
//
// # What may go wrong
//
//   - A worker dies between sending and recording: the mail is sent again. It is composed
//     anew, and is the same to the byte (its date is that of the report), unless somebody
//     was renamed in between; the one that is kept is the last.
//   - A mail is sent after its report has expired, or its recipient is erased while it is
//     sent: it is not kept.
package sent
