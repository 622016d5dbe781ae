// Package tree is a Merkle tree (RFC 6962) over each event log, beside its chain. The
// chain proves a history to whoever has all of it; the tree proves one event, or that
// one history goes on from another, with some dozen hashes.
//
// A leaf is an event's digest and the time at which it was recorded, 40 bytes (Leaf): a
// digest alone has no time. The leaf of position p has the index p - 1, so the tree over
// a log's first n events is a function of these events and of nothing else, and any
// number n has one. Hashing and proofs are those of golang.org/x/mod/sumdb/tlog, which
// Go's checksum database runs on.
//
// # Tiles
//
// The table log_tiles keeps hashes in tiles of 256, as C2SP's tlog-tiles serves them:
// level 0 has leaves' hashes, level l those of whole tiles of level l - 1. It is a cache:
// what it lacks, Trees computes from the events, and Fill keeps what has become whole.
// So an append costs nothing more, no proof waits for Fill, and a tile is written once a
// 256 events (one row, and 32 bytes more in the level above).
//
// # What may go wrong
//
//   - The process dies within Fill: its transaction is not there. Two fill at once: an
//     advisory lock makes them take turns, and the second finds nothing to do.
//   - Nobody fills: proofs read all events since the last whole tile, and stay right.
//   - Somebody changes tiles, or events under them: the tree of before does not fit any
//     more. Check says which tile is not that of its events. Who holds the database can
//     change both; then no checkpoint that was signed and kept before fits.
//   - A restore sets the log back behind whole tiles: Check names them, as it names the
//     witness that does not fit. Nothing but an empty log_tiles is needed then.
package tree
