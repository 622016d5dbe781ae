// Package slasum computes a Performance & SLA Summary from the records of a window: how long servers were up, down and
// unknown, what that means for their objectives and budgets, how fast they were, which statements cost most, how sizes grew,
// and how long it took to notice and to repair outages.
//
// Summarize is a pure function of the inputs document, and has every figure. Sheet writes the words and tables.
//
// Unknown time never counts as up. The availability is a range: its low end counts unknown time as down, and its high end
// counts it as up (package objective). Only time that a server was down uses a budget. An objective is about a calendar
// month: if the window is the beginning of a month, the budget is that of the whole month, else that of the window.
//
// The time to repair an outage that goes on at the window's end, or began before the window, is not known: it is at
// least as long as the window shows. A quantile that such an outage could change is printed as "at least".
package slasum
