// Package pades puts a proof into a PDF and signs it, and takes such a file apart
// again: PAdES baseline B (ETSI EN 319 142-1, SubFilter ETSI.CAdES.detached), B-T where
// a time stamp is to be had.
//
// It is no part of internal/pdf: the renderer is named by a digest over its program
// text, and a change in signing is none in rendering. Whoever verifies needs this
// package and no renderer, fonts or database.
//
// # One update
//
// Sign appends one incremental update to a file of our renderer, whose bytes stay as
// they are: Split gives them back, with the digest that the log recorded. The update has
// the embedded file proof.json (name tree, /AF), one invisible signature field on the
// last page, a certifying signature that permits no changes (DocMDP level 1), and a
// catalog and a last page that know of them. layout.go is all of its text.
//
// Who signed is bound by signing-certificate-v2; when, is said by /M, as PAdES asks for:
// there is no signing-time attribute, which is why github.com/digitorus/pkcs7, which
// always writes one, does not make the CMS; encoding/asn1 does (cms.go). The same base,
// update and key give the same bytes (ECDSA by RFC 6979), but for a time stamp and for a
// key in hardware that signs otherwise.
//
// ECDSA and RSA sign. Ed25519 (RFC 8419, with SHA-512) was tried: pdfsig 22.12 says of
// such a signature "Document isn't signed or corrupted data", and openssl cms 3.0.19
// "eddsa_digest_signverify_init:invalid digest", while Go's crypto/x509 takes it. A
// signature that the common readers call corrupted is worse than none.
//
// # Split reads what Sign writes, and nothing else
//
// A PDF can say one thing to each of two readers, and most attacks on signed PDFs use
// that. So Split does not read the update as PDF. It takes six values out of it (proof,
// time, name, reason, numbers of bytes), writes the update again with the base and these
// values by the function that Sign uses, and wants the same bytes. What is left
// open is the signature's value. Hence the text of the update is a format: to change it
// is to add a layout with another first line, and to keep this one for the files there
// are.
//
// What may go wrong:
//
//   - The base is not laid out as our renderer does: *BaseError, and nothing is signed.
//   - The time stamp is not to be had: *StampError; sign again without Stamp.
//   - The file is hostile: every offset is checked before it is used, nothing is
//     decompressed, work and memory are linear in the file. *SplitError names the fault
//     and where.
//   - Somebody signs another update on top, or only saves the file with a viewer that
//     writes it anew: AfterSignature or Rewritten. The file says no longer what we signed.
//   - Somebody takes the pages alone into another file: NoUpdate. Nothing in it says that it
//     was Muster's.
//   - Somebody takes the time stamp out of the signature: nothing covers it, as in every
//     PAdES B-T, and Verify finds a good signature without one.
//   - The certificate is trusted by nobody: pdfsig and viewers say so, and are right. Its
//     digest is among the installation's public keys.
package pades
