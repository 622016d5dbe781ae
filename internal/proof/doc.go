// Package proof makes the proofs of reports, and says what the log knows about a given PDF.
//
// # Making
//
// Maker.Make runs once for a report that is Ready. It checks the report's events against the
// chain, and has a checkpoint of the log's tree signed that covers Ready. It attests report,
// kind, scope, digests and head, and stores the proof byte for byte (report_proofs). Later
// additions of others (cosignatures, time stamps) are stored beside it, and Kept joins the two.
// Package attest has the form of a proof and the check by a third party.
//
// Nothing is made or returned for a Ready without the builder's mark (Vouch): by the chain
// alone, an event that was appended with SQL is as valid as any other. A stored proof is
// compared with the log, because SQL can replace it with another. Find requires the mark of a
// report that has no proof. A valid proof shows that the report has a mark, or is older than
// marks.
//
// # Finding
//
// A file belongs to this installation if its SHA-256 is in a Ready event of the organization
// (the PDF, the tables that go with it, the inputs document), or is that of the signed PDF that
// begins with such a file. The history projection finds the report, and then the events
// themselves prove it:
//
//   - Each event of the report is hashed again and compared with the events before and after it
//     in the log. Versions must have no gap.
//   - Ready must name this very digest.
//   - The head that the PDF carries in its footer must still be in the log.
//   - The proof that was stored when the report was built has to match: a person who changed
//     Ready and computed everything after it anew cannot sign that.
//   - The tree of this proof has to be the beginning of the log's tree, so nobody can remove a
//     mail from before it.
//   - If this process has compared the log with everything that was signed of it
//     (checkpoint.Maker.Hold), that has to match, too.
//
// A projection that was tampered with, or lags, can hide a report (it then reads as unknown) but
// cannot vouch for a false one.
//
// # What may go wrong
//
//   - Events are appended meanwhile: events that were read never change, so this is not mistaken
//     for a fault.
//   - Two processes make the proof of one report at once, or one dies: the row that was stored
//     first counts, and its bytes go into the PDF.
//   - A person with write access to the database deletes the proof and the event that says that
//     the PDF was signed, and computes the log anew: another proof or checkpoint from after the
//     change reveals it, or the file beside the secret key, or something outside Muster: a
//     checkpoint, a witness, or the PDF itself.
//   - A person who has database and keys makes a report with a past date: its checkpoint, and
//     time stamps and witnesses on it, have today's date.
//   - Keys were rotated since Ready: an old key that is still in the file signs. If all of them
//     were retired since, nothing is signed (*FaultError).
//   - The service was away for longer than a day: no time stamp is added, because one that is
//     more than a day late would contradict the report's own time. A PDF that waited so long for
//     its signature stays as it was built.
//   - The time stamp service hangs: the proof is stored before the service is asked. The PDF
//     waits five seconds for it, and the proof's own time stamp is added later (StampAll).
//
// A rebuild trusts the same events for the digests with which it compares, so it checks them
// against the chain in the same way (Prover.Record).
//
// This checks one report in a few dozen reads. `muster events verify` reads everything, and
// checks whether all other events are intact, too.
package proof
