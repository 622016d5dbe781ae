// Package standing gathers what caps the score of a server beside its checks: the support of its version, its open alerts
// and the fullest of its volumes. The inputs of a report and the score of an assessment take them from here, so that the
// history of scores and a scorecard agree. What package serverfacts adds to a scorecard (measured backups, tablespaces and
// the other volumes) caps that scorecard only.
//
// # What may go wrong
//
// An assessment arrives that is older than an hour. The alerts and the volumes of its time are not known any more: only
// the end of support caps its score. The same holds if the fleet's read model does not have the server yet. An alert that
// was raised a moment ago may not be in the read model: it counts from the next assessment.
package standing
