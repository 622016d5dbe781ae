// Package handlers acts on the world in the background: it builds reports,
// mails them, lets them expire, and erases what may no longer be kept.
//
// # How it works
//
// Each kind of job (package jobs) has a handler; Workers runs them on
// Watermill's stock Router. The way of a report:
//
//	Queued ──build──> Builder: gather inputs as of one instant, store them while the
//	                  PDF and its tables are made of them and stored, then in one
//	                  transaction {Ready, the build job ends, a mail job per recipient,
//	                  one that signs it, one that expires it, one that erases its inputs}
//	       ──sign───> Signer: the proof (internal/proof), then the PDF with a second
//	                  revision (internal/pades), then {Signed, the mails are due now,
//	                  the sign job ends}
//	       ──mail───> Mailer: one message with the proof to one recipient, then
//	                  {EmailSent or EmailFailed, the mail job ends}
//	       ─expire──> Expirer: {Expired, the expiry job ends, one that erases the PDF and its tables}
//	       ──erase──> Eraser: PDF and tables after expiry, the inputs when their time
//	                  has come or somebody whom they name is erased, then
//	                  {InputsErased, the job ends}
//
// A schedule has a job of its own, of kind run, which comes when it is due next:
//
//	Created ────run──> Scheduler: what is due by the database's clock, then in one transaction
//	                   {Queued or Reused of the latest, what became of it and of those that
//	                   were missed, the same job later}
//
// Each of those transactions takes the job first, and what commands lock after it
// (package commands says in which order): whoever has lost the job holds up nobody.
//
// Every handler reads what it needs to know of a report from its stream and
// not from a read model, which may lag behind the job. Nothing is open while it
// works; what it decides, it commits in one transaction under the fence of its
// job.
//
// Rebuilder makes PDF and tables again from the recorded inputs, or from inputs in hand
// without log, database and store; Sweeper deletes files that no event names.
//
// # What may go wrong
//
// A worker dies between any two steps. Before the last transaction: the job is
// claimed again when its lease lapses, the trail shows buildResumed, the files
// of the dead attempt have names of their own and are swept. After it: the job
// is gone. There is no in between, and so no Ready without its file, no file
// that counts without an event, and no recipient without a mail job.
//
// Two workers build the same report, because one only seemed dead. The fence
// lets one of them commit; the other's transaction is rolled back and its files
// are strays.
//
// A member joins while the report is built. Recipients are read in the
// transaction that appends Ready, under the lock that joining takes as well:
// they are in it, or their request made a new report.
//
// A member is erased while a report that names them is built. Ready locks the
// members that its inputs name: it finds the member erased and queues the erasure
// of the inputs itself, or the erasure waits for Ready and finds the report. The
// PDF that prints their name stays until it expires. The inputs' two erasures (the
// other one waits for the end of their retention) are two jobs: whichever comes
// first deletes the file and says why, the second finds nothing left to do. A
// worker that dies between the file and the event leaves a report whose inputs are
// missing, until the job comes again. A mail that waits for the member is tried
// once more at once, and fails for lack of an address; one that is being sent just
// then arrives.
//
// An exception is granted or revoked while the report is built. The builder waits
// until its read model has passed the head that the log has at the instant of the
// report: what was decided before counts, and what is decided meanwhile may. A
// read model that does not get there in ten seconds fails the attempt; a score
// that forgets what was accepted, or what no longer is, would be worse than none.
//
// An alert is raised or resolved while a scorecard is built. The builder waits for
// the read model of alerts in the same way: what was recorded before the instant
// of the report is in it as it was recorded, what is recorded meanwhile may be. An
// alert that fires is heard of more often than its log says; the time until which
// it was last heard of is the one of the moment at which it is read.
//
// A sample comes in while a scorecard is built. The hours of utilization are those
// that the dashboard shows at that moment: what arrived in the seconds before may
// not be rolled up yet, and is in no report of it.
//
// A worker dies while it signs. The proof is kept once, and whoever takes over puts the
// same one into the PDF; a signed file without its event is a stray. The time stamp
// service is away: the PDF is signed without one, and the proof's own follows (a chore).
// The file in the store, or what the log says of it, was changed: nothing is signed, and
// the job is set aside for an operator. The file is missing: nothing is attested, and the job
// is tried again. The signed file is lost: the next download queues
// another signature, and gives the PDF as it was built.
//
// Somebody with the database appends a report and queues its signature or its mail: both
// handlers want the mark that the builder puts on Ready (internal/proof, Marked), and set the
// job aside without it. The mark is made in the transaction that appends Ready, and a change
// of the secret key waits for that: so no genuine mark is appended under a key that was
// retired meanwhile. A worker of the version before makes no mark. Its reports are signed as
// long as such a worker is connected, for a day at most (internal/secrets says why, and what
// it costs); a sign job that is claimed later is set aside, and 'muster keys accept-unmarked'
// and 'muster dead retry' get it signed. What the old worker itself signs is not held back:
// it is the hole that the upgrade closes.
//
// The proof is not made in time. A mail job is due 15 seconds after Ready by the database's
// clock (MailWait), or when the Signer records the signature. A mail that is due then and finds
// no proof says so and goes without one.
//
// A worker dies between sending a mail and recording it. The mail is sent
// again, with the same Message-ID. The bytes are the same, too, unless the proof got a time
// stamp or a witness's signature between the two, or the keys were changed: the mail prints the
// fingerprint of the document of keys as it is when it is sent. The one of the report is among
// the report's inputs, where a mail would have to unpack all of them to find it, and SQL could
// change one that is kept in the event or the job. Of a mail that is sent after the
// report expired, or about somebody who was erased meanwhile, nothing is kept.
//
// The disk is full, or the place of the files is away. The build is tried again with its
// backoff, and then ends Failed with a sentence that says what to do.
//
// A report cannot be built at all. It ends Failed with a code and a sentence; so
// does one whose workers keep dying, when the fifth attempt's lease lapses. The code is
// that of its last attempt, also where the end could not be recorded at once (package
// jobs).
//
// Clocks are off. A job is claimed when the database says that it is due; expiry
// itself is judged by the clock of whoever reads. A worker whose clock is behind
// puts an expiry off for a few seconds.
//
// The inputs of the report before cannot be read, though they are still kept. Where they
// are damaged or were changed, the one before it is compared with. Where the store does not
// give them, the first attempt fails, and the next ones do without a comparison: one file
// must not keep every later report of its scope from being built.
//
// # What may go wrong with schedules
//
// A worker dies before it records what becomes of a due time: the job is claimed again, and
// whoever claims it finds the due time without a fact. It dies after that: the job has its
// next time already, for report, fact and job are one transaction.
//
// Two workers have the same job, because one only seemed dead: the fence lets one commit.
// Whoever comes second finds the job gone on, and nothing of its own report is left.
//
// The clock steps, in either direction: the facts of a schedule are in the order of their
// due times, so that none comes twice; what a step forward has passed is missed, and the
// latest is made.
//
// There is no room among the reports being built, or in the one that it would join for all
// its recipients: the job comes again every few seconds until the next is due. Findings
// cannot be compared, or any other error: it is tried again with its backoff, once an hour
// at last; nothing sets it aside. Muster is away over several due times: all but the latest
// are missed.
//
// A zone's rules change: each schedule is looked at once a day, and goes by the rules that
// this process has then.
package handlers
