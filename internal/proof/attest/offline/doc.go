// Package offline checks a PDF, or a mail about a report, with only the public keys of the
// installation that built it: no database, no network, no clock.
//
// It takes the file apart (package pades), compares the PDF as built with the proof (package
// attest), and then checks what others have added: time stamps (package timestamp) and
// witnesses. If something is required and missing, the result is "cannot tell". So nobody can
// weaken a proof by leaving something out.
//
// A mail is checked by its text, whose signature covers eight of its lines, and by the proof
// that it carries (CheckMail). The mail as such is not signed, so the proof has to match those
// lines.
//
// # What may go wrong
//
//   - The mail's attachment was removed on its way: only the text is left, which has no other
//     clock. The result is "cannot tell" if another clock is required.
//   - The signed update was cut off: only the base is left, which carries no proof. The result
//     is "cannot tell" until the proof comes from elsewhere.
//   - Data was appended, or the update is not in the form that Muster writes: contradicted.
//   - The installation's clock was more than a day off, or somebody moved its log: the report's
//     time contradicts the PDF's signature, a time stamp or a witness.
//   - The key that signed is not among the keys: the result is "cannot tell", and the step names
//     the key.
package offline
