// Package reports answers for reports: requests, the history, the download tray, the
// stored PDF, and whether a PDF in hand is one of ours.
//
// # What may go wrong
//
//   - A worker is faster than the answer to a request for a report: the answer
//     tells the report as the request left it; what happened since is at Location.
//   - The process dies between the record of a download and its last byte: the
//     log says "downloaded" of a file that nobody has whole, never the reverse.
//   - A stored PDF was changed, swapped or taken away: 500 file_altered, no byte of
//     it, HEAD and ranges alike, and nobody is said to have downloaded it; the audit
//     list (fileAltered), the log and muster_http_problems_total tell of it. A file is
//     read to its end before its first byte is sent, and then read again as it is
//     sent: twice the reading (some hundred kilobytes; 2,000 pages are a few
//     megabytes), for a range of it, too, and no memory. Somebody who overwrites it in
//     place between the two readings is not seen; Repr-Digest then does not fit.
package reports
