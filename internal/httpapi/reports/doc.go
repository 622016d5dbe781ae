// Package reports answers for reports: requests, the history, the download tray, the
// stored files (the PDF and what goes with it), and whether a PDF in hand is one of ours.
//
// # What may go wrong
//
//   - A worker is faster than the answer to a request for a report: the answer
//     tells the report as the request left it; what happened since is at Location.
//   - The process dies between the record of a download and its last byte: the
//     log says "downloaded" of a file that nobody has whole, never the reverse.
//   - A stored file was changed, swapped or taken away: 500 file_altered, no byte of
//     it, HEAD and ranges alike, and nobody is said to have downloaded it; the audit
//     list (fileAltered), the log and muster_http_problems_total tell of it. A file is
//     read to its end before its first byte is sent, and then read again as it is
//     sent: twice the reading (some hundred kilobytes; 2,000 pages are a few
//     megabytes), for a range of it, too, and no memory. Somebody who overwrites it in
//     place between the two readings is not seen; Repr-Digest then does not fit.
//   - The inputs of a report were deleted, and the event that says so is not recorded
//     yet, because somebody was just erased: whoever asks for them in that moment gets
//     file_altered.
//   - A report is of before there were companions: it has a PDF and inputs, and the
//     list reads the inputs to know their size.
package reports
