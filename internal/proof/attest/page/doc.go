// Package page writes one HTML file that does in a browser what `muster verify --offline` does
// on the command line: it checks a report with an installation's public keys, and uses no
// network and no server.
//
// The file contains the page, its style and its program (js/, plain JavaScript, no library), so
// you can keep it, mail it, and read all of it. Its content security policy lets nothing else
// load or run. The browser computes digests and signatures (WebCrypto). Our own code reads
// documents: the proof, the keys, DER, signed notes, and the signed update of a PDF, which it
// takes apart as package pades does, by writing it again.
//
// The Go verifier (packages attest and offline) is the reference. A test gives both the same
// vectors and requires the same verdict and the same state of each step.
//
// # What the page does not do
//
// It does not decide which time stamp authorities are trusted. For a time stamp it shows the
// time, whether it covers the right bytes, and whether the certificate in it signed it. It does
// not know witnesses. So it cannot tell about signatures of a key that has ended since. It uses
// the browser's clock to detect reports from the future. It refuses keys that are not canonical
// JSON as Muster writes it (ids in capitals, members in another case); the Go verifier accepts
// them.
//
// # What may go wrong
//
//   - The browser has no Ed25519 (Chrome before 137, Firefox before 129, Safari before 17): the
//     page says so, and that it cannot tell.
//   - A file is hostile: none of it becomes HTML. A PDF is searched once, the size of its update
//     is limited, and a proof has a megabyte at most.
//   - The page itself was swapped: the person who hands it to you decides what it says. Compare
//     its SHA-256 with the page that `muster verify --page` of a program you trust writes.
package page
