// Package measurements keeps the samples of hosts, sessions and statements, and
// answers the four tiles from them: connections, utilization, query performance and
// wait events.
//
// Samples come in by Store.Write, in any order and as often as their senders like.
// Each tile asks a Store for the part of every engine that it covers, and Tiles puts
// the parts together. Package pgstore is a Store; measurementstest holds it to the
// definitions, against a plain reading over raw samples.
//
// # Definitions
//
// They are the specification's (§), as our readings (R) have them. A bucket is a
// minute, an hour, a day or a week of UTC from Monday, half-open (R5, R6); a sample is in
// the one that holds its time, with the whole interval that ends there (R16).
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
// Of Oracle, a query with a single sample in a bucket counts for nothing in it, and a
// bucket that starts before seven days ago has no part of it (R17). Classify has the
// categories of waits (R22). An interval of counters is of two scrapes of the same CPUs,
// ten minutes apart at most, of which no counter fell and between which the host was not
// lost from sight; otherwise the later one is only where the next begins. Of MongoDB and
// MySQL samples are kept and never shown (R19).
//
// A gap is not zero. CPU, memory and disk have one where no host in scope has a sample
// of it (R13), latencies where nothing was executed (R14), and wait events, in all five
// categories or in none, where nobody sampled (R21).
//
// A scope without a filter is everything that the organization ever measured; a filter
// is those instances and nothing else, even if that is nothing (R1). A host is in scope
// with any instance on it, and counts once (R11): those that its newest sample names,
// or where that names none, those whose host is called so.
//
// Who sends a part only says so (SessionSample.Partial, StatementSample.Partial): it counts
// as any sample, and what is read over it is Partial, engine by engine. Sessions may be
// counted without what they wait for, which is no sample of waits, and the other way round,
// which is none of connections (SessionSample.Part).
//
// # Contributors
//
// Who is behind a figure is the tile's own reading over one bucket (Span) with one more
// key kept (Breakdown), ranked by its part of the figure. The first items and the others
// together are the figure again: the mean of means over hosts, time by executions, or
// the sum. A maximum is the first item's; nothing adds up to it. A span is of whole
// minutes within 72 hours, of whole hours within 35 days, else of whole days, because
// single databases, statements and volumes are kept so; after 400 days they are not
// (NotKeptError), hosts and instances are as long as their tile. Who has no part is no
// contributor: a statement that did not run, a database in which nobody waits.
//
// # Statements
//
// A statement is (instance, database, key), known by a hash inside and by an id outside.
// Statements are read as contributors are, over a span, and one of them bucket by bucket.
// The window before (Span.Previous) has the same length and begins where it is widened
// to what is kept as far back. What is known of a statement besides (NamedStatement) is
// noted as its samples are kept: the newest of them up to an hour late, and nothing of
// what was measured before that was noted.
//
// Coverage is Σ time of statements ÷ Σ busy time, over the samples of query performance
// whose server says how long it executed (StatementSample.BusyMs). A statement's time
// counts in the interval in which it ended, so it may be above 1.
//
// # What may go wrong, and what then happens
//
//   - A sample comes twice, in parts, or again with other content: it is known by what
//     it is of and by its time, and what is known of it stays.
//   - A sample comes late: every bucket that it belongs to is made anew. Of an hour whose
//     raw samples are gone, 72 hours after the last of them came, it is dropped and
//     counted in the receipt.
//   - Two senders have deltas of the same instance: HeldError for the one who comes while
//     the other has the turn. What was counted by another before is dropped, and counted in the receipt.
//   - Statements come with time and without an execution: what was executed is not
//     known, so they are dropped. That counters were reset, that the list of statements
//     was cut off, or that a look failed, the sender has to see; here, a failed look is
//     one that does not come.
//   - An engine cannot be read, or not in its share of the time: the tile is answered
//     without it, which is logged, told to Dropped (package drops keeps it), and marked as incomplete, so that
//     nobody keeps the answer (R24). If none can be read, it is an error.
//   - A clock is off: samples are where their senders say. Lateness goes by the store's
//     clock, what counts as open now by the caller's.
//   - A wait has a name that no table knows: it is in Other.
package measurements
