// Package demo fills an organization to look at, through the same doors that
// real facts come in by, and lets it watch one server that is alive: Muster's own
// private PostgreSQL.
//
// Fill is a list of steps. Each looks whether it is done and can be run again:
// a process that dies halfway leaves an organization that the next start
// completes. Thirteen servers exist on paper only and come through
// commands.RecordFleet as a feed would send them; the fourteenth is registered
// with its DSN and assessed for real, over a small shop database with made-up
// people and a few planted mistakes, to some of which an exception is asked for or
// granted. The servers on paper have had alerts for 30 days, which come through
// commands.RecordAlerts: a dozen rules an engine draw theirs, each from its subject
// and its day alone, and four stories are told (a full disk that lasted a day, a lock
// storm that spread one evening, a member that flapped, and what is open now). Every
// start sends all of them as they stand then. The reports are requested and built by the pipeline like any other:
// their digests, mails and failures are real.
//
// The organization is flagged as demo, and everything that shows it says so.
//
// What may go wrong, and what then happens:
//
//   - The process dies at any line: the next start goes on with the first step
//     that is not done. Each report and each exception is looked for in the log
//     before it is requested, the shop is made in one transaction, and a fleet
//     or an alert that is sent again changes nothing.
//   - Two processes fill at once: they take turns by an advisory lock, for as long
//     as it takes, and the second one finds the steps done.
//   - The projections lag: Fill waits for them, and holds nobody up but the
//     other process that wants to fill.
//   - Somebody renames or removes a demo server: the next start sends the fleet
//     again, as a feed does; one that was removed comes back as a new server.
//   - Somebody closes an alert that still fires: the next start raises it anew, as
//     any sender would. Whom the demo has acknowledge and mute does so once, so that
//     what somebody undoes stays undone.
//   - The demo stands still for a month: the next start closes what has ended since
//     and adds what has come.
package demo
