// Package control computes how a check stood on each server over a period: when it passed,
// failed, was accepted by an exception, and was not known.
//
// It is made from recorded facts alone, at the instant of the question (Evidence.AsOf): the
// assessments that are kept (assessment.History), the registrations and removals in the
// fleet's log, and the decisions about exceptions in the organization's. Of both logs it
// takes what stood before their heads at that instant, so that the same question over the
// same heads has the same answer. Periods is the pure function that makes periods of them.
//
// # What a state is
//
//   - An assessment answers a check on the server or on some of its databases. One that
//     fails anywhere beyond what exceptions cover is failed; else one that anywhere could
//     not be looked at is notAssessed; else one that fails and is covered everywhere is
//     accepted; else it passed. What does not apply counts for nothing, and where all of it
//     does not apply, nobody assessed anything.
//   - An answer holds until the next assessment, and for Hold (24 h) at most. After that,
//     after an attempt that did not reach the server, and after one that could not look (a
//     grant that is missing), it is notAssessed, and the period's reasons say why.
//   - An exception counts from the moment its grant was recorded until its revocation was,
//     or its time is over: its state changes between assessments. Which findings it covers
//     is decided as in reports (analysis.Accepted). The period names the narrowest
//     exception that covers the first of the findings.
//
// # Which assessments count
//
// Each stored assessment is held against its event in the fleet's log (package
// assessment/logged): instance, time, and the digest of its facts, or, where only its answers
// are read, that of both. One that differs, that the log has and the table has not, or that
// has no event, makes its time Altered until the next one. Facts that were erased by their
// retention make it notAssessed.
//
// The time of an assessment that a feed sends is the sender's word. It counts for that time if
// its event was recorded within fleet.Grace. Else it counts from its record on, and both times
// are ReportedLate, for Hold each, where nothing else is known: no share and no gap changes.
//
// Where the version of the catalogue or the check's threshold changes between two answers of
// one state, another period begins.
//
// # Who is asked about
//
// The servers that were of the check's engine, known and active at any time in the window,
// also those that were removed since. A server begins with its registration, or earlier
// with the creation time that somebody gave it; where an assessment is older than that, the
// registration says nothing about its beginning, and it counts from the window's start. It
// ends with its removal. While it was of another engine, which only events of versions from
// before can say, it is as if it were not there. Its periods cover its life within the window,
// without a gap, and the share that passed and the longest gap are those of its periods: a
// server that was registered yesterday has no gap of a month, and a month without assessments
// is one of a month. While it was inactive, a server is notAssessed and the reason says so.
//
// A window's from belongs to it, its to does not, and a to in the future is now. It is at
// most MaxWindow long, which is how long assessments are kept.
//
// # What may go wrong
//
//   - Somebody deletes assessments and their events, and computes the log anew: that is found
//     by checkpoints, not here.
//   - An assessment is recorded while a question is answered: events are read after
//     assessments, and what the log had after the question's head is left out.
//   - The fleet's projection lags: a server of a moment ago is not listed. With FromRecord, as
//     evidence asks, the log is read instead.
//   - A check left the catalogue: it is unknown, and reports of then say what it was.
//   - The organization has ten thousand servers: the assessments of 25 are in memory at a time, or
//     of fewer that have very many, and of the others only periods.
//   - A server is never reached: it has an attempt every quarter of an hour, 38,000 in 400 days.
//     Those of the window are in memory, 35 MB of 400 days.
package control
