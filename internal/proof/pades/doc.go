// Package pades puts a proof into a PDF and signs it, and takes such a file apart again: PAdES
// baseline B (ETSI EN 319 142-1, SubFilter ETSI.CAdES.detached), or B-T if a time stamp is
// available.
//
// It is not part of internal/report/pdf: a digest over the renderer's program text identifies the
// renderer, and a change in signing is no change in rendering. A verifier needs this package and
// no renderer, fonts or database.
//
// # One update
//
// Sign appends one incremental update to a file of our renderer. The original bytes stay as they
// are: Split returns them, with the digest that the log recorded. The update has the embedded
// file proof.json (name tree, /AF), one invisible signature field on the last page, a certifying
// signature that permits no changes (DocMDP level 1), and a catalog and a last page that refer
// to them. layout.go has all of its text.
//
// signing-certificate-v2 binds the signer. /M has the time, as PAdES requires: there is no
// signing-time attribute. github.com/digitorus/pkcs7 always writes one, so encoding/asn1 makes
// the CMS instead (cms.go). The same base, update and key give the same bytes (ECDSA by RFC
// 6979), except for a time stamp and for a hardware key that signs differently.
//
// ECDSA and RSA sign. Ed25519 (RFC 8419, with SHA-512) was tried: pdfsig 22.12 says of such a
// signature "Document isn't signed or corrupted data", and openssl cms 3.0.19
// "eddsa_digest_signverify_init:invalid digest", while Go's crypto/x509 accepts it. A signature
// that the common readers call corrupted is worse than none.
//
// # Split reads only what Sign writes
//
// A PDF can say different things to two readers, and most attacks on signed PDFs use that. So
// Split does not read the update as PDF. It takes six values out of it (proof, time, name,
// reason, numbers of bytes). With the base and these values, it writes the update again by the
// function that Sign uses, and requires the same bytes. Only the signature's value is left open.
// So the text of the update is a format: to change it, add a layout with another first line, and
// keep this one for the existing files.
//
// What may go wrong:
//
//   - The base is not laid out as our renderer does it: *BaseError, and nothing is signed.
//   - The time stamp is not available: *StampError; sign again without Stamp.
//   - The file is hostile: every offset is checked before it is used, nothing is decompressed,
//     and work and memory are linear in the size of the file. *SplitError names the fault and
//     its place.
//   - Somebody signs another update on top, or saves the file with a viewer that writes it anew:
//     AfterSignature or Rewritten. The file is no longer what Muster signed.
//   - Somebody copies only the pages into another file: NoUpdate. Nothing in it says that it
//     came from Muster.
//   - Somebody removes the time stamp from the signature: nothing covers it, as in every PAdES
//     B-T, and Verify finds a good signature without one.
//   - Nobody trusts the certificate: pdfsig and viewers say so, and are right. Its digest is
//     among the installation's public keys.
package pades
