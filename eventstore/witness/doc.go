// Package witness is the text form of a log's head, in which it leaves Muster:
//
//	log:position:hash        reports:1204:9f2c41d0…
//
// The position has no separators, and the hash is complete: 64 hexadecimal digits. Everything
// that prints a head for a person to keep (the footer and methodology of a PDF, a mail, a page,
// the command line) calls Format. `muster events verify --witness` reads it with Parse (through
// eventstore.ParseWitness), so a witness can be copied from any of these places as it stands. It
// is a package of its own because the PDF renderer does no I/O and must not import the store for
// one line of text.
package witness
