// Package jobs is a queue for work that may take minutes and must take effect once. It is a job
// table in PostgreSQL behind Watermill's message.Subscriber, so the stock Router and its
// middleware run the handlers.
//
// # How it works
//
// A job is inserted in the transaction that appends the event which asks for it. So neither
// exists without the other at any time. A Subscriber claims one due job for each free slot (FOR
// UPDATE SKIP LOCKED). The claim counts the attempt, starts a lease, and gets a fence: a number
// that no other claim ever has. The claim is committed at once, so no transaction is open while
// the handler works. A heartbeat extends the lease each time a third of it has passed. At the
// end the handler opens one transaction, calls Queue.Finish with its claim, records the outcome
// and commits. Its writes outside the database are named after the fence, and only the outcome
// says which fence counts.
//
// Organizations take turns (internal/concurrency/fairslots). One organization never has more than half of the
// slots that a process has for a kind, however many of its jobs are due and however long they
// take. The claim decides whose turn it is, so the backlog of one organization does not delay
// the others.
//
// Times are the database's. Leases, due dates and the age of a job are compared with now() in
// SQL, never with a worker's clock. A worker's own clock only measures the time since its last
// heartbeat.
//
// Idle workers wait for a notification on Channel, which PostgreSQL sends when the inserting
// transaction commits, or for the time at which the next job is due, and for a second at most.
//
// After n failed attempts a job is tried again n⁴ seconds later, give or take a tenth. Lost
// attempts do not lengthen that wait, because they say nothing about the work. A second loss in
// a row waits one second beyond its lease, the third 16 and the next 81, because the cause of
// the losses may persist. After the last attempt the job is set aside: its row stays, a person
// can inspect it, retry it or drop it, and Policy.Dead records the consequences in the same
// transaction (eventstore.Transact, like everything that is decided again). A *FinalError sets a
// job aside at once. commands.RetryJob refuses to retry the build of a report that has ended.
//
// The row records how each attempt ended (Ending): failed with its error, lost, returned, or
// interrupted.
//
// A worker shows that it is alive with a lock of its name, held by the session that listens for
// notifications. If an attempt is lost while its worker is still alive, the attempt is
// interrupted and does not count, because it did not kill the worker. An attempt is also
// interrupted if its lease lapsed while the server was down, or if it failed because the
// database was away, had no room, or gave no lock (interrupted.go).
//
// # What may go wrong
//
// The worker dies. Its lease lapses, and another worker claims the job with a new fence and
// notes that the previous attempt was lost. A job that kills its workers is set aside as well,
// because the claim counts the attempt: a claim after the last attempt does not run the job but
// sets it aside with an *AbandonedError. A job that is bounded by time only is set aside once
// its time is up and three attempts in a row were lost. A job with neither bound goes on
// forever.
//
// The transaction that sets a job aside fails. The result of the attempt is noted alone, and the
// job comes again after a lease. The next claim sets it aside with an *EarlierError, which is
// what the row says about the last attempt, or runs it once more if attempts are left. A worker
// that dies while it sets a job aside adds nothing and hides nothing. If even the note cannot be
// written (the database is away for longer than the lease), the attempt counts as lost. The next
// worker cannot tell that from a dead worker, and the texts do not pretend that it can.
//
// The worker only seems dead (a long pause, a cut connection) and comes back while another is at
// work. Finish, Hold and SetProgress match no row under the old fence and return
// *lease.LostError. The transaction must be rolled back. The worker's context is canceled with
// that cause at the next heartbeat.
//
// The answer to a commit is lost. If it was committed, the job is gone, and handing it back
// matches no row. If not, it runs again.
//
// The process is told to stop. It claims nothing more. Handlers have Config.Drain to finish;
// then their contexts end with ErrStopping, and their jobs are handed back, due at once and
// without counting the attempt. This is why a message's context does not end with the context of
// Router.Run: Watermill cancels that one first and waits afterwards.
//
// The database is away. Claims and heartbeats fail and are tried again. A handler whose lease
// cannot be extended for the length of a whole lease is canceled.
//
// The database does not commit, because its synchronous standby is away or its disk hangs.
// Claims are given up after a lease or ten seconds, and PostgreSQL then counts them as
// committed. The row says that a worker holds the job, and that worker knows nothing of it. Each
// such lease lapses as an interrupted attempt. No job is set aside for this reason, however long
// it takes.
//
// A worker hangs and its session stays open. Each attempt at its job is interrupted in turn, and
// the job is never set aside: nothing distinguishes it from a database that does not commit.
//
// The jobs of two organizations hang and hold all slots. The jobs of a third organization wait
// until one of them reaches its time limit (handlers.Task.Timeout), and come next.
//
// The same job is inserted twice. (Subject, kind, key) is unique; see Queue.Insert.
//
// # Conformance
//
// The Subscriber passes the parts of Watermill's Pub/Sub suite that apply to a queue of leased
// jobs: publish and subscribe, concurrent subscribers and topics, redelivery after a nack,
// closing while messages are in flight and continuing afterwards, message and subscription
// contexts. These parts do not apply: consumer groups (a kind has one handler), exactly-once
// delivery (work done before a crash is done again, so handlers guard their outcome with the
// fence), guaranteed order (jobs run side by side and retries wait), and old messages for new
// subscribers (a finished job is gone; its history is in the event log). The suite's test of a
// server restart needs a command that restarts a broker; a test of ours breaks the connections
// instead.
package jobs
