// Package control computes the state of a check on each server over a period: when it passed,
// when it failed, when an exception accepted the failure, and when the state was not known.
//
// It uses recorded facts alone, as of the time of the request (Evidence.AsOf): the stored
// assessments (assessment.History), the registrations and removals in the fleet's log, and the
// decisions about exceptions in the organization's log. It uses the events of both logs up to
// their heads at that time, so the same request over the same heads has the same answer. Periods
// is the pure function that computes the periods.
//
// # What a state is
//
//   - An assessment answers a check on the server or on some of its databases. The state is
//     failed if the check fails anywhere beyond what exceptions cover. Otherwise it is
//     notAssessed if the check could not run somewhere. Otherwise it is accepted if the check
//     fails and exceptions cover all failures. Otherwise it is passed. Results that do not apply
//     are ignored. If no result applies, the check was not assessed.
//   - An answer holds until the next assessment, and for Hold (24 h) at most. The state is
//     notAssessed after that, after an attempt that did not reach the server, and after one that
//     could not run the check (a missing grant). The period's reasons say why.
//   - An exception counts from the recorded time of its grant until the recorded time of its
//     revocation, or until it lapses. So the state may change between assessments. The rules for
//     which findings it covers are those of reports (analysis.Accepted). The period names the
//     narrowest exception that covers the first of the findings.
//
// # Which assessments count
//
// Each stored assessment is compared with its event in the fleet's log (package
// assessment/logged): instance, time, and the digest of its facts. If only its answers are read,
// the digests of facts and answers are compared. From an assessment that differs, is missing
// from the table, or has no event, the time until the next one is Altered. Facts that were
// erased by their retention make it notAssessed.
//
// The sender alone vouches for the time of an assessment that a feed sends. The assessment
// counts for that time if its event was recorded within fleet.Grace. Otherwise it counts from
// its recorded time on. Both times are then ReportedLate, for Hold each, where nothing else is
// known; no share and no gap changes.
//
// A new period also begins if the version of the catalog or the check's threshold changes
// between two answers with the same state.
//
// # Which servers are included
//
// The answer has all servers of the check's engine that were known and active at any time in
// the window, including servers that were removed since. A server begins with its registration, or earlier
// with the creation time that somebody gave it. If an assessment is older than the registration,
// the registration does not show when the server began, and it counts from the start of the
// window. A server ends with its removal. While it had another engine (only events of earlier
// versions can say that), it is left out. Its periods cover its life within the window without a
// gap, and the share that passed and the longest gap are computed from these periods. So a
// server that was registered yesterday has no gap of a month, and a month without assessments is
// a gap of a month. While a server was inactive, it is notAssessed and the reason says so.
//
// A window includes its from and excludes its to, and a to in the future means now. It is at
// most MaxWindow long, which is how long assessments are kept.
//
// # The control of backups
//
// Backups goes by days and not by assessments (BackupDays). A day is a look that holds until the next one, and is neither
// kept by the log nor compared with it. The RPO is that of the time of the request.
//
// # What may go wrong
//
//   - Somebody deletes assessments and their events, and computes the log anew: checkpoints
//     reveal that, and this package does not.
//   - An assessment is recorded while a request is answered: events are read after assessments,
//     and events after the request's head are left out.
//   - The fleet's projection lags: a server registered a moment ago is not listed. With
//     FromRecord, which evidence uses, the log is read instead.
//   - A check left the catalog: it is unknown here, and earlier reports have its text.
//   - The organization has ten thousand servers: memory holds the assessments of 25 at a time,
//     or of fewer if they have very many, and only the periods of all others.
//   - A server is never reached: it has an attempt every quarter of an hour, 38,000 in 400 days.
//     The attempts of the window are in memory, 35 MB for 400 days.
package control
