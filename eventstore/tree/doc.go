// Package tree is a Merkle tree (RFC 6962) over each event log, beside its chain. The chain
// proves a history to a reader who has all of it. The tree proves with a few dozen hashes that
// one event is in a log, or that one history continues another.
//
// A leaf is an event's digest and its recorded time, 40 bytes (Leaf), because the digest alone
// does not cover the time. The leaf of position p has the index p - 1. So the tree over the
// first n events of a log depends on these events only, and it exists for every n. Hashing and
// proofs are those of golang.org/x/mod/sumdb/tlog, on which Go's checksum database runs.
//
// # Tiles
//
// The table log_tiles keeps hashes in tiles of 256, as C2SP's tlog-tiles serves them. Level 0
// has the hashes of leaves, and level l the hashes of the full tiles of level l - 1. The table
// is a cache: Trees computes missing tiles from the events, and Fill stores tiles that have
// become full. So an append has no extra cost and no proof waits for Fill. A tile is written
// once for every 256 events (one row, and 32 more bytes in the level above).
//
// # What may go wrong
//
//   - The process dies within Fill: its transaction is rolled back. Two processes fill at once:
//     an advisory lock makes them take turns, and the second finds nothing to do.
//   - Fill does not run: proofs read all events since the last full tile, and stay correct.
//   - Somebody changes tiles, or the events under them: the earlier tree does not match any
//     more, and Check names the tile that does not match its events. The owner of the database
//     can change both; then no checkpoint that was signed and kept earlier matches.
//   - A restore sets the log back behind full tiles: Check names them, as it names the witness
//     that does not match. Emptying log_tiles is the only repair needed.
package tree
