// Package codec defines the bytes in the tables of pgstore: the bodies of samples, the slots
// and rows of rollups, the details, and how they add up to the figures of a tile.
// All of it is pure; pgstore has the statements, the locks and the transactions.
//
// Each kind of series (hosts, sessions, statements) says what it knows as a Kind: how
// what comes again is merged, how minutes are rolled up from samples, how longer buckets
// are made of shorter ones. A new kind is an implementation of it, a case in KindOf, and
// what Arrivals makes of a batch.
//
// # Form of the bytes
//
// Whole numbers are varints; numbers that are shown take six bytes (short numbers), those
// that are reckoned with later come back as they were. A row is its slots, each behind
// its length, the last ones left out where they are empty.
//
// Statements of many samples and details are added up by an Adder, which makes lists of
// none of them; what is written is made by AddUpDetails, which adds neighbours.
//
// # What may go wrong, and what then happens
//
//   - Bytes are cut off, or a disk changed them: ErrBytes, and never a panic, nor room made
//     for more than there can be (FuzzKinds). What still can be read as something else
//     is not noticed: PostgreSQL's checksums are what notices that.
//   - Bytes are from before databases were noted in details: DecodeDetail reads them.
package codec
