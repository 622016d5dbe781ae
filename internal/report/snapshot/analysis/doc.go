// Package analysis computes the contents of reports from a snapshot: findings in their total
// order, changes since the previous report, the remediation plan, the health score, the risk of
// a table and classification coverage. Package window does the same for what happened in the
// window of a scorecard: its alerts, the utilization of its hosts and the hints that follow.
//
// Everything here is a pure function of a snapshot.Document: no clock, no I/O, no map order. Two
// calls over the same document give deeply equal results, which makes a PDF reproducible.
//
// The unit is the finding: one object that fails one check on one database or instance,
// identified by snapshot.FindingKey. A failing check without a listed object is one finding with
// an empty object. Only the first snapshot.MaxViolations objects of a check are listed in a
// document. The others are counted (Group.Unlisted) and never compared over time.
//
// exceptions.go is the one place that applies exceptions. Every finding is either open, and
// counts in the figures, the plan and the score, or accepted, and is listed separately with its
// exception. If several exceptions cover it, the narrowest is named. Only a table's risk counts
// accepted findings, because the access still exists. CVEs are no findings of a check, so no
// exception covers them. An exception for the check of an old version removes the check and
// leaves its CVEs and the upgrade that fixes them. If the finding decides the severity, every
// finding has its own: a trust line on a socket beside one over TCP, a CVE of CVSS 4.3 beside
// one of 8.8. A result has the severity of its worst open finding.
//
// due.go decides when a finding has to be closed: the organization's days by severity, from its first
// sight. trend.go compares with earlier days: findings say themselves since when they are there, and
// the document has the numbers of those that have gone. plan.go makes one action of all that one
// change of one server closes.
//
// caps.go has what holds a score down besides its checks. The stored scores of assessments know the
// checks alone, so a scorecard says both.
//
// verdict.go is the one place that decides the text of page 1, for all kinds: never green over a
// gap, and never silent about a grave finding. Open CVEs and those that are only not ruled out
// are counted separately everywhere (vulnerabilities.go).
//
// scope.go is the one place that decides the subject of a report: a Security report covers only
// the checks of that domain, in its findings, counts, plan, change and coverage alike; a
// scorecard covers all of them.
//
// The weights (Critical 20, High 8, Medium 3, Low 1; effort S 1, M 3, L 8) are ours and printed
// on the methodology page.
//
// What may go wrong: a result may name a check that the document's catalog does not define (the
// catalog changed between assessment and report). It is kept, with its id as title and severity
// Low, instead of being dropped.
package analysis
