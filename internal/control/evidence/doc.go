// Package evidence writes how a check stood over a period as signed JSON, CSV and PDF, for
// readers without the installation.
//
// The Document holds the answer of package control, what it was made from and where that
// is recorded: the heads of the two logs at the instant of the question, the positions of
// the events that granted and revoked exceptions, and of each assessment its time, the
// SHA-256 of its facts as the log names them, and the position of its event. One that is not
// what the log recorded is listed with the reason, and its time is altered.
//
// Maker makes a document for the command line and the API alike: asOf is the database's clock,
// each log's head is covered by a signed checkpoint, and the logs that do not fit what was
// signed of them are not signed again, so there is no evidence of them. That evidence was made
// is recorded (organization.EvidenceMade, with its digest) before it is handed out.
//
// Sign wraps the document's exact bytes: {"evidence": …, "keyId": …, "signature": …, "timestamp": …}. The
// report key signs the line "muster-evidence-1", and behind it the SHA-256 of the evidence
// in hex as compact JSON, so that white space around it may change and nothing else. No
// signature over a report is one over evidence. Check needs the installation's public keys
// and nothing else. A PDF prints the digest, key and signature of the document that it was
// made from: it is a picture of the evidence, and the JSON is the evidence.
//
// # What may go wrong
//
//   - The time stamp service is away: evidence is made without a time stamp, which does not
//     follow, because nobody keeps the evidence but who asked for it.
//   - It cannot be recorded: it is not handed out. Somebody who asked dies between the two: the
//     log names evidence that nobody has.
//   - A document of thousands of servers over a year is large: it is made in memory, a few
//     hundred bytes for each assessment.
//   - Names of servers and reasons are somebody's text: the CSV is as safe for spreadsheets
//     as those of reports, and the paper passes typeset's sanitizer.
//   - A period is shorter than a hair on paper: a failed one is drawn as wide as one, over
//     whatever is beside it.
package evidence
