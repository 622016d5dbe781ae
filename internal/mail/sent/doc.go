// Package sent stores the mails about reports as they were sent, byte for byte, while their
// report is available.
//
// A mail is stored in the transaction that records that it was sent, so it exists exactly if the
// report's trail says emailSent. It is deleted with the report's PDF, and when a person whom it
// names is erased: its recipient, or the member who added them.
//
// # What may go wrong
//
//   - A worker dies between sending and recording: the mail is sent again. It is composed anew,
//     and is identical byte for byte (its date is that of the report), unless somebody was
//     renamed in between. The last one is stored.
//   - A mail is sent after its report has expired, or its recipient is erased while it is sent:
//     it is not stored.
package sent
