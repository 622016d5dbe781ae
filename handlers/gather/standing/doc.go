// Package standing gathers what caps the score of a server beside its checks: the support of its version, its open alerts,
// its backups, and its volumes and tablespaces (package serverfacts). The inputs of a report and the score of an assessment
// have the same, so that the history of scores and a scorecard agree.
//
// # What may go wrong
//
// An assessment arrives that is older than an hour. The alerts, the backups and the room of its time are not known any
// more: only the end of support caps its score. The same holds if the fleet's read model does not have the server yet. An
// alert that was raised a moment ago may not be in the read model: it counts from the next assessment.
//
// What caps a score cannot be read: the assessment is kept without a score (changes.Standing).
package standing
