// Package forecast says when something that grows is full: a volume, a tablespace. It is a pure
// function of a history, and the only forecast of Muster: pages, watch rules and reports use it.
//
// # The method
//
// The values of a UTC day count as one, their median. Growth is the median of the slopes between any
// two days (Theil and Sen; Sen 1968, doi 10.1080/01621459.1968.10480934), so single days and the hours of
// a backup do not matter. From four weeks on, only days that are whole weeks apart are compared (Hirsch
// and others 1982, doi 10.1029/WR018i001p00107): what differs between the days of a week is no growth.
//
// The bounds of the growth are those of Sen's estimator, by the variance of Kendall's S, which is
// enlarged for days that resemble the day before (by the residuals' correlation with the day before).
// The bounds of the level are the quantiles of the residuals. The date is stated with both at their
// bounds, so it lies between Soonest and Latest with at least the stated Confidence if growth continues
// as it was. TestTheConfidenceHolds draws histories and counts.
//
// # When there is no date
//
// A date is stated only if the growth is beyond doubt: one in a thousand by Kendall's test, more than three
// times the spread of the residuals, and still there in the last third of the history. Otherwise a Reason says
// why there is none. A value that jumps is not extrapolated over the jump: only days after the last jump
// count, and if it fell twice it is a saw-tooth, which somebody or something empties.
package forecast
