// Package blocks is where measurements are kept once their hour is over: rows that are
// written once and read often, in PostgreSQL or in ClickHouse.
//
// # Head and blocks
//
// What is still being written is the head, which is always in PostgreSQL
// (pgstore): the raw samples of open hours, and what they come to. When nothing of an
// hour has come for some minutes, pgstore compacts it: it puts what the hour is into
// blocks, and takes it out of the head. A sample that comes later opens the hour again,
// with what its blocks have, and so a block is always a function of all samples that it
// covers: nothing is ever added to one, and to put it twice changes nothing.
//
// PostgreSQL stays the ledger: who may write, what is late, what is sealed, and which
// hours are open are known there alone. Where an hour or a longer bucket is in the head,
// the head counts and not the block.
//
// # Series
//
// A block is known by what it is of: organization, kind and subject of its series, its
// table and its start. Series.ID is how the ledger in front of it numbers the series. A
// store beside PostgreSQL must not know blocks by it: a ledger that was restored from a
// backup numbers new series otherwise than the one that was lost.
//
// # What may go wrong, and what then happens
//
//   - A process dies between putting blocks and taking their hours out of the head: the
//     hours are still open, the head counts, and they are put again.
//   - The answer to Put is lost, or comes late: the same.
//   - Two processes put the same block: they hold its series' row in the ledger one after
//     the other. A Put that was given up and arrives after the next one must not take its
//     place (Store.Put).
package blocks
