// Package jobs is work that may take minutes and must happen once: a job table
// in PostgreSQL behind Watermill's message.Subscriber, so that the stock Router
// and its middleware run the handlers.
//
// # How it works
//
// A job is inserted in the transaction that appends the event which asks for
// it: there is no moment at which one exists without the other. A Subscriber
// claims one due job for each free slot (FOR UPDATE SKIP LOCKED), which counts
// the attempt, starts a lease and gives the claim a fence, a number that no
// other claim ever has. The claim is committed at once: while the handler
// works, no transaction is open. A heartbeat at a third of the lease extends
// it. At the end the handler opens one transaction, calls Queue.Finish with
// its claim, records the outcome and commits. What it wrote outside of the
// database is named after the fence, and only the outcome says which fence.
//
// Organizations take turns (internal/turns): of the slots that a process has for a kind, one
// organization never has more than half, however many of its jobs are due and however long
// they take. The claim says whose turn it is, so a backlog of one organization costs others
// no wait.
//
// Times are the database's: leases, due dates and the age of a job are
// compared with now() in SQL, never with a worker's clock. A worker's own clock
// only measures how long ago its last heartbeat was.
//
// Idle workers wait for a notification on Channel, which PostgreSQL sends when
// the inserting transaction commits, for the moment at which the next job is due, and a
// second at most.
//
// After n failed attempts a job is tried again n⁴ seconds later, give or take a
// tenth; attempts that were lost do not make it wait longer, for they say nothing
// of the work. A second loss in a row waits a second beyond its lease, the third 16
// and the next 81, for whatever loses them may go on. After the last one the job
// is set aside: its row stays, a person can look at it, retry or drop it, and
// Policy.Dead records the consequences in the same transaction
// (eventstore.Transact, like whatever is decided again). A *FinalError sets aside
// at once. commands.RetryJob refuses to retry the build of a report that has ended.
//
// The row keeps how each attempt ended (Ending): failed with its error, lost,
// returned, or interrupted.
//
// A worker is known to be there by a lock of its name, which the session holds that
// listens for notifications. An attempt that was lost is interrupted, and does not
// count, where its worker is still there: it did not kill it. So is one whose lease
// lapsed while the server was down, and one that failed because the database was
// away, had no room, or gave no lock (interrupted.go).
//
// # What may go wrong
//
// The worker dies. Its lease lapses, another one claims the job, with a new
// fence, and notes that the attempt before was lost. A job that kills its worker
// is set aside as well, because attempts count at the claim: the claim after the
// last attempt is none, it buries the job with an *AbandonedError. So is a job that
// only time bounds, once its time is up and three attempts in a row were lost. One
// with neither bound goes on for ever.
//
// The transaction that sets a job aside fails. What there is to say of the attempt
// is noted alone, and the job comes again after a lease: the next claim buries it
// with an *EarlierError, which is what the row says of the last attempt, or runs
// it once more where attempts are left. A worker that dies while it buries adds
// nothing and hides nothing. Where not even the note can be written (the database
// is away for longer than the lease), the attempt counts as lost; whoever claims
// next cannot tell that from a dead worker, and the texts do not pretend to.
//
// The worker only seems dead (a long pause, a cut connection) and comes back
// while another is at work. Finish, Hold and SetProgress match no row under
// the old fence and return *lease.LostError; the transaction must be rolled
// back. Its context is cancelled with that cause at the next heartbeat.
//
// The answer to a commit is lost. If it was committed, the job is gone and
// putting it back matches no row. If not, it runs again.
//
// The process is told to stop. Nothing more is claimed; handlers have
// Config.Drain to finish, then their contexts end with ErrStopping and their
// jobs are handed back, due at once and without counting the attempt. This is
// also why a message's context does not end with that of Router.Run: Watermill
// cancels that one first and waits afterwards.
//
// The database is away. Claims and heartbeats fail and are tried again. A
// handler whose lease cannot be extended for a whole lease is cancelled.
//
// The database does not commit, for as long as its synchronous standby is away or its
// disk hangs. Claims are given up after a lease or ten seconds, and PostgreSQL then
// counts them as committed: the row says that a worker holds a job of which that worker
// knows nothing. Each such lease lapses, and is an interrupted attempt. However long it
// takes, no job is set aside for it.
//
// A worker hangs and its session goes on. What it holds is interrupted attempt by
// attempt, and never set aside: nothing tells it from a database that does not commit.
//
// The jobs of two organizations hang, and hold all slots. A third one's wait until one of
// them is timed out (handlers.Task.Timeout), and are next.
//
// The same job is inserted twice. (Subject, kind, key) is unique; see
// Queue.Insert.
//
// # Conformance
//
// The Subscriber passes those parts of Watermill's Pub/Sub suite that apply to
// a queue of leased jobs: publish and subscribe, concurrent subscribers and
// topics, redelivery after a nack, closing while messages are in flight and
// going on afterwards, message and subscription contexts. Not applicable are
// consumer groups (a kind has one handler), exactly-once delivery (work done
// before a crash is done again, so handlers guard their outcome with the
// fence), guaranteed order (jobs run side by side and retries wait), and old
// messages for new subscribers (a finished job is gone; its history is in the
// event log). The suite's test of a server that restarts needs a command that
// restarts a broker; a test of ours breaks the connections instead.
package jobs
