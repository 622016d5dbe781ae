// Package alertsum computes an Alerts Summary from the records of a window: the balance, the times to acknowledge and to
// resolve, the noisiest rules and servers, what was muted, and what was told to whom.
//
// Summarize is a pure function of the inputs document. Every figure is as of the window's end. An alert is open at a
// time if it was raised before it, and not closed before it. An alert that is raised at the window's start is
// raised in the window; one that is closed at the start is resolved in it; both ends follow the same rule. So
//
//	open at start + raised − resolved = open at end
//
// holds for every set of alerts, and with it for every row of every table and for the row of the rest.
//
// Sheet writes the words and tables. Every table is cut to its largest rows, and its last row is the sum of the rest.
package alertsum
