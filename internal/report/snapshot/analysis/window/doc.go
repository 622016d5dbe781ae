// Package window computes what a scorecard says about its window, beside findings: the alerts, the
// utilization of the hosts with the forecast of the fullest volume, and hints on settings.
//
// Everything here is a pure function of a snapshot.Document, as in package analysis, which uses
// the forecast for what holds a score down. This package imports nothing of that one.
//
// Alerts are no findings and cost no points. Their figures cover the window alone: raised and
// resolved in it, open at its end, and how long they were open in it. The series uses the
// definitions of the alert history in the program.
//
// The forecast of the fullest volume is that of package forecast, over the hours of the window and from
// the end of the last one. The hours are those of the program's tile, so the first and the last are whole.
//
// Hints compare settings with the machine and the window's load; each engine's folder has its own.
// A hint is no finding and costs no points. It rests on the vendor's page that it names, and says
// what is missing if it cannot be judged: no host, a host that several instances share, fewer than
// 24 measured hours. The maximum number of sessions in a window is not stored, so a
// limit of sessions can be found too low but never ample.
package window
