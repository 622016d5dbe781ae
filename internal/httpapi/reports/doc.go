// Package reports serves reports: requests, the history, the download tray, the stored files
// (the PDF and its companions), and the check whether a given PDF was built by this
// installation.
//
// # What may go wrong
//
//   - A worker is faster than the answer to a request for a report: the answer shows the report
//     as the request left it. Location shows its later state.
//   - The process dies between the record of a download and its last byte: the log says
//     "downloaded" about a file that nobody has completely, never the reverse.
//   - A stored file was changed, swapped or removed: 500 file_altered and no byte of it, for
//     HEAD and ranges alike, and no download is recorded. The audit list (fileAltered), the log
//     and muster_http_problems_total report it. A file is read to its end before its first byte
//     is sent, and then read again while it is sent. That reads it twice, also for a range of
//     it, and needs no memory (a report has some hundred kilobytes; 2,000 pages are a few
//     megabytes). If somebody overwrites the file in place between the two reads, this is not
//     detected; Repr-Digest then does not match.
//   - The inputs of a report were deleted, and the event that says so is not recorded yet,
//     because a person is being erased: a request for them at that moment gets file_altered.
//   - A report is older than companions: it has a PDF and inputs, and the list reads the inputs
//     to know their size.
package reports
