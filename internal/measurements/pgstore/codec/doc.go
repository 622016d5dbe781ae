// Package codec defines the bytes in the tables of pgstore: the bodies of samples, the slots and
// rows of rollups, the details, and how they add up to the figures of a tile. It is pure;
// pgstore has the statements, the locks and the transactions.
//
// Each kind of series (hosts, sessions, activity, servers, statements) is a Kind: how repeated samples are merged,
// how minutes are rolled up from samples, and how longer buckets are made from shorter ones. A
// new kind needs an implementation of Kind, a case in KindOf, and its part of Arrivals.
//
// # Format
//
// Whole numbers are varints. Numbers that are only shown take six bytes (short numbers); numbers
// that are used in later calculations are stored exactly. A row is its slots, each after its
// length; empty slots at the end are left out.
//
// A figure of a server (measurements.Figures) is its place in that list, and says whether it is summed.
// A program reads, adds up and keeps figures that only a newer one knows, and shows none of them. So a
// new figure is one line at the end of Figures, and needs no migration: programs from before, which
// refuse it, have ended when pgstore writes the first one (migration 00160, WithoutLaterFigures).
//
// An Adder adds up statements of many samples and details without making lists of them.
// AddUpDetails makes what is written, and adds neighbors.
//
// # What may go wrong, and what then happens
//
//   - Bytes are cut off, or a disk changed them: rowbytes.ErrBytes. There is never a panic, nor an
//     allocation larger than the bytes can fill (FuzzKinds). Bytes that still can be read as
//     something else are not noticed; PostgreSQL's checksums detect these.
//   - Bytes are from before databases were recorded in details: DecodeDetail reads them.
package codec
