// Package evidence writes the state of a check over a period as signed JSON, CSV and PDF, for
// readers without access to the installation.
//
// The Document holds the answer of package control, its sources, and where these are recorded:
// the heads of the two logs at the time of the request, the positions of the events that granted
// and revoked exceptions, and for each assessment its time, the SHA-256 of its facts as the log
// has it, and the position of its event. An assessment that differs from the log is listed with
// the reason, and its time is altered.
//
// Maker makes a document for the command line and the API alike. asOf is the database's clock,
// and a signed checkpoint covers each log's head. A log that contradicts its earlier signatures
// is not signed again, so there is no evidence from it. The making of evidence is recorded
// (organization.EvidenceMade, with its digest) before the evidence is handed out.
//
// Sign wraps the document's exact bytes: {"evidence": …, "keyId": …, "signature": …,
// "timestamp": …}. The report key signs the line "muster-evidence-1" followed by the SHA-256 of
// the evidence in hex. The digest is of its compact JSON, so white space around it may change,
// and nothing else. No signature over a report is valid for evidence. Check needs only the
// installation's public keys. A PDF prints the digest, key and signature of its document. The
// PDF is a picture of the evidence; the JSON is the evidence.
//
// # What may go wrong
//
//   - The time stamp service is away: evidence is made without a time stamp. None is added
//     later, because only the requester keeps the evidence.
//   - It cannot be recorded: it is not handed out. If the requester's process dies between the
//     two, the log names evidence that nobody has.
//   - A document of thousands of servers over a year is large: it is made in memory, a few
//     hundred bytes for each assessment.
//   - Names of servers and reasons are text from people: the CSV is as safe for spreadsheets as
//     those of reports, and the PDF passes typeset's sanitizer.
//   - A period is shorter than a hairline in the PDF: a failed one is drawn with the width of a
//     hairline, over its neighbors.
package evidence
