// Package analysis computes what the reports say about a snapshot: findings
// in their total order, what changed since the previous report, the
// remediation plan, the health score, the risk of a table, classification
// coverage, the alerts of a scorecard and how busy its hosts were.
//
// Everything here is a pure function of a snapshot.Document: no clock, no
// I/O, no map order. Two calls over the same document give deeply equal
// results, which is what makes a PDF reproducible.
//
// The unit is the finding: one object that breaks one check on one database
// or instance, identified by snapshot.FindingKey. A failing check without a
// listed object is one finding with an empty object. Only the first
// snapshot.MaxViolations objects of a check are listed in a document; what is
// beyond them is counted (Group.Unlisted) and never compared over time.
//
// What exceptions cover is taken out in one place, exceptions.go: every finding
// is either open, and counts in the figures, the plan and the score, or
// accepted, and is listed apart with its exception. The narrowest one is named
// where several cover it. A table's risk alone counts what is accepted: the way
// in is still there. CVEs are no findings of a check, so that no exception covers
// them; one for the check of an old version takes the check out and leaves its
// CVEs and the upgrade that clears them. Where what was found decides the severity,
// every finding has its own: a line of trust on a socket beside one over TCP, a CVE of
// CVSS 4.3 beside one of 8.8. A result is as severe as the worst that is left of it.
//
// What page 1 says is decided in one place, verdict.go, for all kinds: never
// green over a gap, never silent on what is grave. Open CVEs and those that are only
// not ruled out are counted apart everywhere (vulnerabilities.go).
//
// What a report is about is decided in one place, scope.go: a Security report
// is about the checks of that domain only, in its findings, counts, plan,
// change and coverage alike; a scorecard is about all of them.
//
// Alerts are no findings and cost no points. Their figures are of the window alone:
// raised and resolved in it, open at its end, open for how long of it; the series
// has the definitions of the alert history that the program shows.
//
// The forecast of the fullest volume is a straight line through what was measured, and
// made where 7 days of it are there; the hours are the program's tile's, so that the
// first and the last are whole.
//
// Hints (hints.go, a file an engine) hold settings against the machine and the window's
// load. A hint is no finding and costs nothing. It stands on the vendor's page that it
// names, and says what is missing where it cannot be judged: no host, one that several
// instances share, fewer than 24 measured hours. How many sessions there were at most in
// a window is not kept, so a limit of them is found to be short and never to be ample.
//
// The weights (Critical 20, High 8, Medium 3, Low 1; effort S 1, M 3, L 8) are
// ours and printed on the methodology page.
//
// What may go wrong: a result may name a check that the document's catalogue
// does not define (a catalogue changed between assessment and report). It is
// kept, with its id as title and severity Low, rather than dropped.
package analysis
