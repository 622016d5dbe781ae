// Package page writes one HTML file that does in a browser what `muster verify --offline`
// does on the command line: it checks a report with an installation's public keys, and asks
// no network and no server.
//
// The file is the page, its style and its program (js/, plain JavaScript, no library) in
// one, so that somebody can keep it, mail it, and read it whole. Its policy lets nothing
// else load or run. Digests and signatures are the browser's own (WebCrypto); what is ours
// reads documents: the proof, the keys, DER, signed notes, and the signed update of a PDF,
// which is taken apart as package pades does, by writing it again.
//
// The Go verifier (packages attest and offline) is the reference. A test gives both the
// same vectors and wants the same verdict and, step by step, the same states.
//
// # What the page does not do
//
// It does not judge who may say what time it is: of a time stamp it tells the time, whether
// it is over the right bytes and whether the certificate in it signed it. Witnesses it does
// not know. So of what was signed with a key that ended since it cannot tell. It looks at
// the browser's clock for reports from the future. Keys
// that are not canonical JSON as Muster writes it (ids in capitals, members in another
// case) are refused where the Go verifier is more lenient.
//
// # What may go wrong
//
//   - The browser has no Ed25519 (Chrome before 137, Firefox before 129, Safari before 17):
//     it says so, and that it cannot tell.
//   - A hostile file: nothing of it becomes HTML. A PDF is searched once, its update is
//     bounded, a proof has at most a megabyte.
//   - The page itself was swapped: whoever hands it to you decides what it says. Compare
//     its SHA-256 with that of `muster verify --page` of a program you trust.
package page
