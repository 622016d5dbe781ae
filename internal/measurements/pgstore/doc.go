// Package pgstore stores measurements in PostgreSQL: open hours in its tables, closed hours in
// blocks there or elsewhere (package blocks). It is a measurements.Store.
//
// The package itself reads tiles, and makes the rows of whole organizations. Its rooms do the
// rest:
//
//   - codec: the bytes of samples, slots and details.
//   - packing: raw samples as compressed blocks.
//   - writing: from a batch to rows of samples, with their marks.
//   - tables: the keys and rows of the tables, and blocks in PostgreSQL.
//   - rollup: from samples to minutes, hours, days and weeks.
//   - compaction: from the head to blocks, sealing, retention.
//   - dictionary: the keys and texts of statements, and the names of waits and people.
//   - placement: where blocks are, and how they are moved.
//   - ledger: what writing, rollup, compaction and this package share.
//
// docs/design/measurements.md draws the life of a sample and gives the measurements behind each
// choice. A change must keep these rules, and those in the doc.go of its room:
//
//   - A sample is one row of raw_samples. It commits together with the mark of its minutes
//     (dirty_hours), and the first content of a time stays.
//   - Head, marks and wholes are UNLOGGED. All of them can be made anew from raw_samples, blocks
//     and the ledger (measured_series, measured_hours, sealed_hours, open_weeks), and reads are
//     refused until that is done.
//   - A week that has a block has a block for each of its days.
//   - A change of the visible data of a series leaves a mark for its whole (whole_marks) in the
//     same transaction, and Whole takes marks before it reads slots.
//   - No statement joins tables of slots: readRows and eachRow alone read them.
//   - One sender at a time counts an instance's statements (statement_turns); a sample that
//     begins before its turn is dropped.
//   - Retentions are numbers of ledger.Retention and package measurements. Statements take them
//     as parameters.
//
// Locks: everything done to a series is done under its row in measured_series, except that
// minutes are forgotten without it. Writers take turns first (by instance), then create missing
// series (by key), then lock series (by id), then the organization's row (if names of people or
// texts are written), then names (by hash), then rows of measured_statements (by series and hash).
// All others skip locked rows (SKIP LOCKED); only Roll waits, for one series at most a second,
// holding nothing. So no cycle can close. A statement of its own takes a lock, and everything
// found before it is checked again.
//
// What may go wrong: a process that dies leaves no part of a step, and the marks are still
// there. An hour that cannot be rolled up, or a whole that cannot be made, waits longer each
// time while the others go on; Behind shows it. Blocks that cannot be reached keep their hours
// in the head, and after HeadBound samples of those series are refused. The design page has the
// whole table.
package pgstore
