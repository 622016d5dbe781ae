// Package witness is the text form of a log's head, in which it leaves the house:
//
//	log:position:hash        reports:1204:9f2c41d0…
//
// The position has no separators and the hash is whole, 64 hexadecimal digits.
// Whatever prints a head for somebody to keep (footer and methodology of a PDF,
// mail, page, command line) calls Format, and `muster events verify --witness`
// reads it with Parse (by way of eventstore.ParseWitness), so that a witness can
// be copied from any of them as it stands. It is a package of its own because the
// PDF renderer does no I/O and must not import the store for one line of text.
package witness
