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
// and its day alone, and seven stories are told (a full disk that lasted a day, a lock
// storm that spread one evening, a member that flapped, a primary that went and whose
// standby took over, a release that lacked an index for three hours, a plan that turned
// three hours before the organization was made, and what is open now). Every
// start sends all of them as they stand then, and Fire goes on each minute with those
// that fire or have just ended: an open alert counts in a bucket only if it was seen
// firing there. The reports are requested and built by the pipeline like any other:
// their digests, mails and failures are real.
//
// Jonas says who is told (notifications.go): after the alerts that are over, before those
// that are open. So the mails tell of what is open and of what comes, and not of a month
// that is past. Only e-mail goes out, to where the mails about reports go. The other
// channels have names that nobody has, of .example, and their rule is off.
//
// Ana and Tomás make schedules (schedules.go), for which they accept their invitations,
// with passwords that nobody knows: nothing is requested in the name of somebody who has
// not. No due time before a schedule was made has a run, and none is made up. Ana's one comes
// at the next full minute, and once more when its first report is there, which it then finds
// unchanged; then she sets it to the morning. Tomás is disabled before his is due, so that
// it is paused.
//
// The members act: Ana and Jonas acknowledge and mute with a note, request reports for
// each other and for Mei, and fetch what is ready (Fire looks each minute); Ana asks for
// exceptions, and Jonas grants, refuses and takes back. The log says when that was
// recorded, which is when the demo was filled, and nothing makes it older: what began
// long ago are the alerts, whose times their sender tells. For the same reason no report
// has expired in a new demo: the first do after the organization's retention. Reports are
// queued and being built for as long as that really takes.
//
// # What is found
//
// Agents assess the servers on paper, all but the one that is retired
// (assessments.yaml): what fails since when and until when, accounts, settings, databases
// with personal data. It goes through feed.Doors like what real agents send: of the
// last eight weeks, each week and in the end each day, up to the day before the
// organization was made. Three stories are told: a server that is neglected, one that is
// exemplary, one past its end of life. When the first Security report over that is ready,
// Fire sends the assessment of the moment at which the organization was made, and
// requests a second report, which tells what is new, what has gone and what stayed; after
// that, the agents go on each day. The times of assessments lie in the past, as their
// senders tell them; reports are requested when the demo is filled, and none is older
// than it: that of an earlier date does not exist.
//
// # What is measured
//
// The servers on paper have agents, too. What those measure is a pure function of
// when the organization was made and of the minute (samples.go): days and weeks
// have a rhythm, volumes fill and are cleaned up, the lock storm, the full disk and the
// failover are to be seen when the alerts tell of them, one statement is behind the spike
// of the release and one behind that of the plan, agents were off for some hours, and
// for three of them nobody collected anything. It goes through push.Intake like the
// samples of real agents, from Past before the organization was made until now. The
// time Recent before now is there with a sample every minute, and in the series, before
// anybody is told that there is a demo (Begin); the rest comes behind it, the latest
// first, with a sample every ten minutes (Measure), and of Oracle's statements only the
// last seven days, which are all that is ever shown of them. Then Measure goes on,
// minute by minute.
//
// Which minutes are there is kept as a set of ranges in demo_measured, which moves in
// the transaction that keeps their samples (the batch's Guard). So there is no state
// but that set: whatever is missing in it is written, whoever stopped and for how long.
//
// Statements have the texts that their applications would send, without literals
// (statements.yaml, workloads.go), of the three engines whose texts are kept; servers of
// PostgreSQL 14 and newer say how long they executed, of which the statements explain
// nine tenths.
//
// The live server and the machine it runs on have no made-up past: what is shown of
// them was measured.
//
// The organization is flagged as demo, and everything that shows it says so.
//
// What may go wrong, and what then happens:
//
//   - The process dies at any line: the next start goes on with the first step
//     that is not done. Each report and each exception is looked for in the log
//     before it is requested, the shop is made in one transaction, and a fleet
//     or an alert that is sent again changes nothing.
//   - Two processes fill at once: they take turns by an advisory lock, and the second
//     one finds the steps done. Nobody has it who waits for the measurements.
//   - The projections lag: Fill waits for them, and holds nobody up but another
//     process that wants to fill, or to start.
//   - Somebody renames or removes a demo server: the next start sends the fleet
//     again, as a feed does; one that was removed comes back as a new server.
//   - Somebody registers a connection for a server on paper, or removes one: the agents
//     send nothing of it, and go on with the others.
//   - A report expires before anybody fetched it: nobody does.
//   - Fire comes before Fill: it sends no alerts until it is set up who is told.
//   - Filling takes so long that Tomás's schedule is due before he leaves: it requests one
//     report, and is paused from then on.
//   - The demo stands still while a schedule is due twice: what was missed is listed, as in
//     any organization.
//   - Somebody removes a schedule, a channel or a rule, or lets Tomás in again: it stays so.
//   - Names cannot be looked up: making the three channels takes up to nine seconds longer.
//   - Somebody closes an alert that still fires: Fire leaves it closed, so that a visitor
//     sees it stay so, and the next start raises it anew, as any sender would. Whom the demo has acknowledge and mute does so once, so that
//     what somebody undoes stays undone.
//   - The demo stands still for a month: the next start closes what has ended since
//     and adds what has come. Of its measurements the last day is there before it is
//     ready, the rest behind it.
//   - Somebody removes a server that an alert is about: what Fire sends of it is
//     refused, and the other alerts go on.
//   - Two processes measure at once: they take turns, batch by batch, by a lock of
//     its own. One that has lost its lock finds the minutes noted, and its batch is
//     rolled back.
//   - The set of what is measured is lost: it is all written again, and the store has
//     it already. What is cut at other minutes then may count twice, in a demo.
//   - The clock goes back: what is in the future is not written twice when it comes.
//   - Nobody rolls up samples, because no process has the role workers: Begin does, and
//     the scorecard of a server's past is requested when somebody has that role.
package demo
