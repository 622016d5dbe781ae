// Package scorecard has page 1 and the sections of reports that have a health score: points lost,
// utilization, the history of alerts, and recommendations.
//
// # What may go wrong
//
// An instance was never assessed: its score is unknown, and the report lists what it lacks.
package scorecard
