// Package snapshot is the document from which a report is rendered: everything known about the
// servers in scope as of one instant, in one canonical encoding.
//
// A build gathers a Document, and Encode turns it into bytes. Their Digest goes into the Ready
// event, the bytes are stored beside the PDF, and internal/report/pdf renders from nothing else. A
// rebuild reads the bytes back with Decode. So the proof that a PDF says what was known rests on
// two properties, both tested over random documents: equal facts encode to equal bytes, whatever
// the order in which the collectors found them, and encode ∘ decode ∘ encode changes no byte.
//
// The canonical form is JSON with the fields in the order of the Go structs, without HTML
// escaping and without insignificant space. Slices are never null and are sorted as their
// comments say. Times are UTC, RFC 3339, truncated to microseconds (PostgreSQL's precision).
// Text is valid UTF-8, and an invalid byte is shown as ‹0xFF›. There are no maps.
//
// What may go wrong:
//
//   - A number that is not one (NaN, infinity) or a year beyond 9999 has no JSON: Encode returns
//     an error and the report ends Failed; nothing is stored.
//   - The form changes in a later release: SchemaVersion goes up, and an upcaster converts old
//     bytes when they are read. The digest is of the stored bytes, so it can still be proven. A
//     document of a newer release than this one is refused with a *VersionError that names both.
//   - Bytes that Muster did not write, or bytes of this version with a field that this version
//     does not know, are refused: a document that cannot be encoded again must not pass for the
//     same document.
//   - Two processes encode the same facts at once: they write the same bytes.
package snapshot
