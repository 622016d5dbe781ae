// Package compaction puts hours that are over into blocks, seals them, and deletes what is older
// than its retention.
//
//   - Compact puts an hour, and what the head has of its day and its week, into blocks, and
//     removes the hour from the head. If both have a row, the head's counts. So a process may
//     die between the two.
//   - Seal sets an hour's bit when nothing came for as long as raw samples are kept. Only then
//     is a sample too late. It does nothing while samples cannot arrive, and for six hours
//     after that.
//   - Forget closes the details of weeks that are over, and drops rows of any kind that are older
//     than their retention (ledger.Retention, measurements.KeptSince).
//
// All three work in rounds: each group of claimed hours or weeks has a transaction of its own.
//
// What may go wrong: blocks of some series cannot be reached. Then each hour of the group is
// tried by itself, and the round goes on without these series. A week whose details cannot be
// read keeps them open. It is logged, and tried again in the next round.
package compaction
