// Package handlers does the background work: it builds reports, mails them, lets them expire,
// and erases what may no longer be kept.
//
// # How it works
//
// Each kind of job (package jobs) has a handler. Workers runs the handlers on Watermill's stock
// Router. The way of a report:
//
//	Queued ──build──> Builder: gather inputs as of one instant, store them while the
//	                  PDF and its tables are made of them and stored, then in one
//	                  transaction {Ready, the build job ends, a mail job per recipient,
//	                  one that signs it, one that expires it, one that erases its inputs}
//	       ──sign───> Signer: the proof (internal/proof), then the PDF with a second
//	                  revision (internal/proof/pades), then {Signed, the mails are due now,
//	                  the sign job ends}
//	       ──mail───> Mailer: one message with the proof to one recipient, then
//	                  {EmailSent or EmailFailed, the mail job ends}
//	       ─expire──> Expirer: {Expired, the expiry job ends, one that erases the PDF and its tables}
//	       ──erase──> Eraser: PDF and tables after expiry, the inputs when their time has
//	                  come or a person whom they name is erased, then
//	                  {InputsErased, the job ends}
//
// A schedule has one job of kind run, which is due at the schedule's next due time:
//
//	Created ────run──> Scheduler: the due times that have passed by the database's clock, then
//	                   in one transaction {Queued or Reused for the latest, the outcome of it
//	                   and of each missed one, the same job at its next due time}
//
// Each of these transactions locks the job first, and after it what commands lock (package
// commands has the order). So a worker that has lost its job holds up nobody.
//
// Every handler reads the report from its stream, and not from a read model, which may lag
// behind the job. No transaction is open while the handler works. It commits its decision in one
// transaction under the fence of its job.
//
// Rebuilder makes a PDF and its tables again from the recorded inputs. It can also use an inputs
// document on disk, without log, database and store. Sweeper deletes files that no event names.
//
// # What may go wrong
//
// A worker dies between any two steps. If it dies before the last transaction, the job is
// claimed again when its lease lapses, and the trail shows buildResumed. The files of the dead
// attempt have their own names and are swept. If it dies after the last transaction, the job is
// gone. There is no state in between. So there is no Ready without its file, no file that counts
// without an event, and no recipient without a mail job.
//
// Two workers build the same report, because one only seemed dead. The fence lets one of them
// commit. The other's transaction is rolled back, and its files are strays.
//
// A member joins the request while the report is built. Recipients are read in the transaction
// that appends Ready, under the lock that joining takes as well. So the member is either among
// the recipients, or their request created a new report.
//
// A member is erased while a report that names them is built. Ready locks the members that its
// inputs name. Either it finds the member erased and queues the erasure of the inputs itself, or
// the erasure of the member waits for Ready and finds the report. The PDF that prints their name
// stays until it expires. The inputs have two erasure jobs, because the other one waits for the
// end of their retention. The first to run deletes the file and records why; the second finds
// nothing left to do. If a worker dies between the file and the event, the inputs are missing
// without an event until the job comes again. A mail that waits for the member is tried once
// more at once, and fails because there is no address. A mail that is being sent at that moment
// arrives.
//
// An exception is granted or revoked while the report is built. The builder waits until its read
// model has passed the head that the log has at the instant of the report. Decisions before that
// instant count, and decisions during the build may count. A read model that does not get there
// in ten seconds fails the attempt: no score is better than one with outdated exceptions.
//
// An alert is raised or resolved while a scorecard is built. The builder waits for the read
// model of alerts in the same way. Events before the instant of the report are in it as they
// were recorded, and events during the build may be. Muster hears of a firing alert more often
// than the log says. The time at which it was last seen is the time known when the builder reads
// it.
//
// A sample comes in while a scorecard is built. The hours of utilization are those that the
// dashboard shows at that moment. Samples of the last seconds may not be rolled up yet, and are
// then not in the report.
//
// A worker dies while it signs. The proof is stored once, and the next worker puts the same
// proof into the PDF. A signed file without its event is a stray. If the time stamp service is
// away, the PDF is signed without a time stamp, and the proof gets its own later (a chore). If
// the file in the store or its record in the log was changed, nothing is signed, and the job is
// set aside for an operator. If the file is missing, nothing is attested, and the job is tried
// again. If the signed file is lost, the next download queues another signature and returns the
// PDF as it was built.
//
// A person with access to the database appends a report and queues its signature or its mail.
// Both handlers require the mark that the builder puts on Ready (internal/proof, Marked), and
// set the job aside without it. The mark is made in the transaction that appends Ready, and a
// change of the secret key waits for that transaction. So no genuine mark is appended under a
// key that was retired meanwhile. A worker of the previous version makes no mark. Its reports
// are signed as long as such a worker is connected, for a day at most (internal/secrets says
// why, and what it costs). A sign job that is claimed later is set aside; 'muster keys
// accept-unmarked' and 'muster dead retry' get it signed. Nothing holds back the signatures of
// the old worker itself: that is the hole that the upgrade closes.
//
// The proof is not made in time. A mail job is due 15 seconds after Ready by the database's
// clock (MailWait), or when the Signer records the signature. If a mail is due and there is no
// proof, the mail says so and goes out without one.
//
// A worker dies between sending a mail and recording it. The mail is sent again with the same
// Message-ID. The bytes are the same, too, with two exceptions: the proof got a time stamp or a
// witness's signature between the two, or the keys were changed. A mail prints the fingerprint
// of the document of keys at the time of sending. The report's own fingerprint is among its
// inputs, which a mail would have to unpack completely to find it; a copy in the event or the
// job could be changed with SQL. If the report expired before the mail was sent, or a person
// whom it names was erased meanwhile, no record of the mail is kept.
//
// The disk is full, or the blob store is away. The build is tried again with its backoff. In the
// end it is Failed, with a sentence that says what to do.
//
// A report cannot be built at all. It ends Failed with a code and a sentence. A report whose
// workers keep dying ends Failed when the lease of the fifth attempt lapses. The code is that of
// its last attempt, even if the end could not be recorded at once (package jobs).
//
// Clocks are wrong. A job is claimed when it is due by the database's clock; each reader judges
// expiry by its own clock. A worker whose clock is behind delays an expiry by a few seconds.
//
// The inputs of the previous report cannot be read, although they are still kept. If they are
// damaged or were changed, the report is compared with the one before that. If the store does
// not return them, the first attempt fails and later attempts do without a comparison: one file
// must not prevent every later report of its scope.
//
// # What may go wrong with schedules
//
// A worker dies before it records the outcome of a due time. The job is claimed again, and the
// next worker finds the due time without a fact. If it dies after that, the job already has its
// next due time, because report, fact and job are one transaction.
//
// Two workers have the same job, because one only seemed dead. The fence lets one of them
// commit. The second finds that the job has moved on, and nothing of its own report is kept.
//
// The clock steps, in either direction. The facts of a schedule are in the order of their due
// times, so none comes twice. After a step forward, the due times in between are missed, except
// the latest, for which the report is requested.
//
// Too many reports are being built, or the report that the schedule would join has no room for
// all its recipients. The job comes again every few seconds until the next due time. If findings
// cannot be compared, or on any other error, it is tried again with its backoff, which grows to
// once an hour; it is never set aside. If Muster is away over several due times, all but the
// latest are missed.
//
// The rules of a time zone change. Each schedule is looked at once a day, under the rules that
// the process has at that time.
package handlers
