// Package snapshot is the document that a report is rendered from: everything
// known of the servers in scope as of one instant, in one canonical encoding.
//
// A build gathers a Document, Encode turns it into bytes, their Digest goes
// into the Ready event, the bytes go beside the PDF, and internal/pdf renders
// from nothing else. A rebuild reads the bytes back with Decode. So the proof
// that a PDF says what was known rests on two properties, both tested over
// random documents: equal facts encode to equal bytes, whatever order the
// collectors found them in, and encode ∘ decode ∘ encode changes no byte.
//
// The canonical form is JSON with the fields in the order of the Go structs,
// without HTML escaping and without insignificant space; slices are never
// null and are sorted as their comments say; times are UTC, RFC 3339, cut to
// microseconds (what PostgreSQL keeps); text is valid UTF-8, an invalid byte
// made visible as ‹0xFF›. There are no maps.
//
// What may go wrong:
//
//   - A number that is not one (NaN, infinity) or a year beyond 9999 has no
//     JSON: Encode returns an error and the report ends Failed; nothing is
//     stored.
//   - The form changes in a later release: SchemaVersion goes up and an
//     upcaster lifts old bytes on the way in. The digest is of the stored
//     bytes, so it stays provable. A document of a newer release than this one
//     is refused with a *VersionError that names both.
//   - Bytes that are not ours, or of this version with a field that this
//     version does not know, are refused: what cannot be encoded again must
//     not pass for the same document.
//   - Two processes encode the same facts at once: they write the same bytes.
package snapshot
