// Package tables has the PostgreSQL tables of measurements: their keys, and how rows of samples
// and slots are read, put and dropped.
//
// A Bucket is the key of most rows: the number of a series, and a start. RawSamples and
// EachOfHead are the head, and Blocks is blocks.Store in the same database. Both have the same
// columns, so that one statement reads either of them (sql/each_block.sql).
//
// Raw samples lie in partitions: in the head one for each half hour, which is emptied when all
// of it is in blocks (RawSamples.EmptyParts), and in blocks one for each day, which is dropped
// when it is too old. Both give the disk back at once, where DELETE would leave it to VACUUM.
//
// What may go wrong: a backup, or another long reader, holds a partition. It is left to a later
// round, because later readers would wait behind the one that waits for it (IsHeld).
package tables
