// Package proof makes what proves a report to others, and says what the log knows of a PDF
// in somebody's hand.
//
// # Making
//
// Maker.Make runs once for a report that is Ready: it holds the report's events against the
// chain, has a checkpoint of the log's tree signed that has Ready in it, attests report,
// kind, scope, digests and head, and keeps the proof byte for byte (report_proofs). What
// others add later (cosignatures, time stamps) is kept beside it, and Kept joins the two.
// Package attest is the form of a proof, and how a stranger checks it.
//
// Nothing is made, or given out again, for a Ready without the builder's mark (Vouch): by
// the chain alone, an event that SQL appended is as whole as any other. A proof that was kept
// before is held against the log, for SQL can put another one into its place. Find wants the
// mark of a report that has no proof; a proof that holds is one of a marked report, or from
// before there were marks.
//
// # Finding
//
// A file is one of ours when its SHA-256 stands in a Ready event of the organization (the PDF,
// the tables that go with it, the inputs document), or is that of the signed PDF which begins
// with such a file. The history projection finds the
// report; the events themselves then prove it: each event of the report is hashed again and
// held against the events before and after it in the log, versions must have no gap, Ready
// must name this very digest, and the head that the PDF carries in its footer must still be
// in the log. At last the proof that was kept when the report was built has to fit: whoever
// changed Ready and computed everything behind it anew cannot sign that. The tree that this proof
// is of has to be the beginning of the log's, so nobody removes a mail from before it; and where
// this process has held the log against everything that was signed of it (checkpoint.Maker.Hold),
// that has to fit, too. A projection that
// was tampered with, or lags, can hide a report (it then reads as unknown) but cannot vouch
// for a false one.
//
// # What may go wrong
//
//   - Somebody appends meanwhile: what is read of a log never changes, so nothing is
//     mistaken for a fault.
//   - Two make the proof of one report at once, or one dies: the row that was kept first
//     counts, and its bytes are what goes into the PDF.
//   - Somebody with write access to the database deletes the proof, and the event that says
//     that the PDF was signed, and computes the log anew: then any other proof or checkpoint of
//     after the change tells, the file beside the secret key, or what left the house: a
//     checkpoint, a witness, or the PDF itself.
//   - Somebody who has database and keys makes a report with a date of the past: its
//     checkpoint, and time stamps and witnesses on it, are of today.
//   - Keys were rotated since Ready: an old key that is still in the file signs. Where all of
//     them were retired since, nothing is signed (*FaultError).
//   - The service was away for longer than a day: no time stamp follows, for one that is
//     later than a day would contradict the report's own time. A PDF that waited so long for
//     its signature stays as it was built.
//   - The time stamp service hangs: the proof is kept before it is asked; the PDF waits five
//     seconds for it, and the proof's own time stamp follows (StampAll).
//
// A rebuild trusts the same events for the digests that it compares with, so it holds them
// against the chain in the same way (Prover.Record).
//
// That is a check of one report in a few dozen reads. Whether all other events are whole,
// too, is `muster events verify`, which reads everything.
package proof
