// Package measurements defines the samples of hosts, sessions and statements, and computes the
// four tiles from them: connections, utilization, query performance and wait events.
//
// Samples are written with Store.Write, in any order and as often as their senders like. Each
// tile asks a Store for the part of every engine that it covers, and Tiles combines the parts.
// Package pgstore is a Store; measurementstest checks it against the definitions, and against a
// plain reading of raw samples.
//
// # Definitions
//
// They are the specification's (§), as our readings (R) interpret them. A bucket is a minute, an
// hour, a day, or a week from Monday, in UTC and half-open (R5, R6). A sample belongs to the
// bucket that contains its time, with the whole interval that ends there (R16).
//
//	Connections   sessions    of the latest sample of each live database in scope, unless it is older than
//	                          three of its intervals, and than 60 s: the sums of five disjoint counts. §4.2, R23
//	CPU           percent     a host's mean over its samples; the plain mean of hosts. A sample of counters is
//	                          busy ÷ all time since the scrape before, and weighs by that time. §4.4, R11
//	Memory        percent     used ÷ total, likewise; used is what is not available. §4.4, R12
//	Disk          percent     used ÷ (used + available), as df has it, of the fullest volume of all hosts at
//	                          its peak, but for /boot, /boot/efi and what is below /snap/. §4.4, R12
//	Avg latency   ms          Σ time ÷ Σ executions of everything in scope. §4.5, R14
//	Max latency   ms          the highest mean of a query, over the whole bucket; of SQL Server, the interval's
//	                          maximum where it has one. A query is (instance, database, key). §4.5, R15, R16
//	Wait events   sessions    of each database and category Σ waiting ÷ samples in which at least one session
//	                          waits, for whatever; the sum over databases and engines. §4.6, R20
//
// Activity is what sessions do that are on the CPU or wait, in sessions: of each database the
// waiting ones as in wait events, and those on the CPU as Σ on the CPU ÷ samples that tell. All of
// its lines together are the wait events and the sessions on the CPU, whichever way they are
// divided (Dimension). Deadlocks are counted between two samples of a database.
//
// For Oracle, a query with a single sample in a bucket does not count in it, and a bucket that
// starts more than seven days ago has no part from it (R17). Classify has the categories of
// waits (R22). An interval of counters needs two scrapes of the same CPUs, ten minutes apart at
// most. No counter may have fallen between them, and the host may not have been lost. Otherwise
// the later scrape only begins the next interval. Samples of MongoDB and MySQL are stored and
// never shown (R19).
//
// A gap is not zero. CPU, memory and disk have a gap if no host in scope has a sample of it
// (R13). Latencies have one if nothing was executed (R14). Wait events have one, in all five
// categories or in none, if nothing was sampled (R21).
//
// A scope without a filter is everything that the organization ever measured. A filter is its
// instances and nothing else, even if there are none (R1). A host is in scope if any instance on
// it is, and counts once (R11). The instances on a host are those that its newest sample names,
// or, if it names none, those registered with that host.
//
// A sender that measures only a part says so (SessionSample.Partial, StatementSample.Partial).
// Its samples count as any others, and results that include them are Partial, engine by engine.
// Sessions may be counted without their waits, which is no sample of waits, and the other way
// round, which is no sample of connections (SessionSample.Part).
//
// # Contributors
//
// The contributors to a figure come from the tile's own reading over one bucket (Span), with one
// more key (Breakdown), ranked by their part of the figure. The first items and the others
// together make the figure again: the mean of means over hosts, time by executions, or the sum.
// A maximum belongs to the first item; nothing adds up to it. A span consists of whole minutes
// within 72 hours, of whole hours within 35 days, and otherwise of whole days, because single
// databases, statements and volumes are stored that way. After 400 days these are not stored any
// more (NotKeptError); hosts and instances are stored as long as their tile. Something without a
// part of the figure is no contributor: a statement that did not run, a database in which
// nothing waits.
//
// # Statements
//
// A statement is (instance, database, key), identified by a hash inside and by an id outside.
// Statements are read as contributors are, over a span, and a single one bucket by bucket. The
// window before (Span.Previous) has the same length, and begins at an edge of the size that is
// stored that far back. Further facts about a statement (NamedStatement) are recorded when its
// samples are stored. The newest of them may be an hour late, and there are none for samples
// from before they were recorded.
//
// Coverage is Σ time of statements ÷ Σ busy time, over the samples of query performance whose
// server reports its execution time (StatementSample.BusyMs). A statement's time counts in the
// interval in which it ended, so coverage may exceed 1.
//
// # What may go wrong, and what then happens
//
//   - A sample comes twice, in parts, or again with other content: it is identified by its
//     subject and its time, and the first content stays.
//   - A sample comes late: every bucket that contains it is computed anew. If the raw samples of
//     its hour are gone, 72 hours after the last of them came, it is dropped and counted in the
//     receipt.
//   - Two senders have deltas of the same instance: the sender that comes while the other has
//     the turn gets HeldError. Executions that another sender counted before are dropped, and
//     counted in the receipt.
//   - Statements come with time and without an execution: the number of executions is unknown,
//     so they are dropped. The sender has to detect a reset of counters, a cut list of
//     statements, or a failed look. Here, a failed look is one that does not come.
//   - An engine cannot be read, or not in its share of the time: the tile is answered without
//     it. That is logged, reported to Dropped (package drops stores it), and marked as
//     incomplete, so the answer is not cached (R24). If no engine can be read, it is an error.
//   - A clock is off: samples have their senders' times. The store's clock decides which are
//     late, and the caller's clock which sessions count as open now.
//   - A wait has a name that no table knows: it is in Other.
//   - A sender says of other sessions what they do than it counts: what exceeds its counts is left
//     out, and what lacks is added as not reported (SessionSample.Activity).
package measurements
