// Package offline checks a PDF with nothing but the public keys of the installation that
// built it: no database, no network, no clock.
//
// It takes the file apart (package pades), holds what was built against the proof
// (package attest), and then looks at what others have added: time stamps (package
// timestamp) and witnesses. What is asked for and not there is "cannot tell", so that
// nobody makes a proof weaker by leaving something out.
//
// # What may go wrong
//
//   - The signed update was cut off: the base is left, which carries no proof: cannot tell,
//     until the proof comes from elsewhere.
//   - Something was appended, or the update is not as Muster writes it: contradicted.
//   - The installation's clock was more than a day off, or somebody moved its log: the
//     report's time contradicts the PDF's signature, a time stamp or a witness.
//   - The keys do not have the one that signed: cannot tell, and the step names it.
package offline
