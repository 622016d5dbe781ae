// Package offline checks a PDF, or a mail about a report, with nothing but the public keys
// of the installation that built it: no database, no network, no clock.
//
// It takes the file apart (package pades), holds what was built against the proof
// (package attest), and then looks at what others have added: time stamps (package
// timestamp) and witnesses. What is asked for and not there is "cannot tell", so that
// nobody makes a proof weaker by leaving something out.
//
// A mail is checked by its text, whose signature is over eight of its lines, and by the proof
// that it carries (CheckMail). Nothing signs the mail as such, so the proof has to be about
// what those lines say.
//
// # What may go wrong
//
//   - The mail's attachment was taken away on its way: the text is left, which has no other
//     clock: cannot tell, where one is asked for.
//   - The signed update was cut off: the base is left, which carries no proof: cannot tell,
//     until the proof comes from elsewhere.
//   - Something was appended, or the update is not as Muster writes it: contradicted.
//   - The installation's clock was more than a day off, or somebody moved its log: the
//     report's time contradicts the PDF's signature, a time stamp or a witness.
//   - The keys do not have the one that signed: cannot tell, and the step names it.
package offline
