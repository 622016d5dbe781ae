// Package demo fills a demo organization through the same doors that real facts use. It also
// monitors one live server: Muster's own private PostgreSQL.
//
// # How it works
//
// Fill is a list of steps. Each step checks whether it is done, and can run again: if a process
// dies halfway, the next start completes the organization. Thirteen simulated servers come
// through commands.RecordFleet, as a feed would send them. The fourteenth is registered with its
// DSN and really assessed, over a small shop database with invented people and a few planted
// mistakes. Exceptions are requested or granted for some of these.
//
// The simulated servers have had alerts for 30 days, which come through commands.RecordAlerts. A
// dozen rules for each engine generate theirs, each from its subject and its day alone. Seven
// stories are told: a full disk that lasted a day, a lock storm that spread one evening, a
// member that flapped, a primary that failed and whose standby took over, a release that lacked
// an index for three hours, a plan that changed three hours before the organization was made,
// and the alerts that are open now. Every start sends all alerts in their current state. Fire
// continues each minute with those that fire or have just ended, because an open alert counts in
// a bucket only if it was seen firing there. The reports are requested and built by the pipeline
// like any other: their digests, mails and failures are real.
//
// Ana, Jonas and Tomás have set marks on the charts (marks.go): deployments, of which one began the
// lock storm, and one lacked the index.
//
// Jonas decides who is notified (notifications.go), after the alerts that are over and before
// those that are open. So the mails are about open and new alerts, and not about the past month.
// Only e-mail goes out, to the same place as the mails about reports. The other channels have
// .example names, which nobody owns, and their rule is off.
//
// Ana and Tomás create schedules (schedules.go). For that they accept their invitations, with
// passwords that nobody knows: no report is requested in the name of a person who has not
// accepted. Due times before a schedule was created have no run, and none is invented. Ana's
// schedule is due at the next full minute, and once more when its first report is there, which
// it then finds unchanged. Then she sets it to the morning. Tomás is disabled before his
// schedule is due, so it is paused.
//
// The members act. Ana and Jonas acknowledge and mute with a note, request reports for each
// other and for Mei, and download finished ones (Fire looks each minute). Ana requests
// exceptions, and Jonas grants, refuses and revokes them. The log records these at the time at
// which the demo was filled, and nothing makes them older. Only alerts began long ago, because
// their sender gives their times. For the same reason no report has expired in a new demo: the
// first expire after the organization's retention. Reports are queued and being built for as
// long as that really takes.
//
// # Assessments
//
// Agents assess the simulated servers, except the retired one (inspected/assessments.yaml): which checks
// fail from when until when, accounts, settings, databases with personal data. The assessments
// go through feed.Doors like those of real agents. They cover the last eight weeks, each week
// and in the end each day, up to the day before the organization was made. Three stories are
// told: a neglected server, an exemplary one, and one past its end of life. When the first
// Security report over that is ready, Fire sends the assessment of the moment at which the
// organization was made, and requests a second report, which shows what is new, gone and
// unchanged. After that, the agents continue each day. The times of assessments lie in the past,
// because their senders give them. Reports are requested when the demo is filled, and none is
// older than the demo.
//
// # One source for each figure
//
// Sizes of databases and the limit of connections are those of the assessments (package inspected). Backups end when no
// alert and no check says that they are missing (package nights). A server is down when its alerts say so, and then in
// its uptime, its measurements and the roles of its pair (downs), too. web/e2e/demo.test.ts compares the answers.
//
// # Measurements
//
// The simulated servers have agents, too. Their measurements are a pure function of the time at
// which the organization was made and of the minute (samples.go). Days and weeks have a rhythm,
// and volumes fill and are cleaned up. The lock storm, the full disk and the failover show at
// the times of their alerts. One statement causes the spike of the release, and another the
// changed plan. Agents were off for some hours, and for three servers nothing was collected. The
// samples go through push.Intake like those of real agents, from Past before the organization
// was made until now. The time Recent before now has a sample every minute, also in the series,
// before the demo is announced as ready (Begin). The rest follows, the latest first, with a
// sample every twenty minutes (Measure), and for Oracle's statements only the last seven days,
// which are all that is ever shown. Then Measure continues, minute by minute.
//
// The set of written minutes is stored as ranges in demo_measured. It is updated in the
// transaction that stores their samples (the batch's Guard). There is no other state: a minute
// that is missing in the set is written, whichever process stopped and for however long.
//
// A session of the application billing holds others up (blocking.go): in the lock storm, on every
// third day for some minutes, and from four minutes before the organization was made. Who waits for
// whom is kept with the samples, as if it had come in time, so the trees of what is older than 72
// hours are forgotten soon. The built-in watch raises the alert of the one that goes on, and the
// demo that of the storm, in the same words.
//
// Statements have the texts that their applications would send, without literals
// (statements.yaml, workloads.go), for the three engines whose texts are stored. Servers of
// PostgreSQL 14 and newer report how long they executed, and the statements explain nine tenths
// of it.
//
// The live server and its machine have no invented past: everything shown about them was
// measured.
//
// The organization is flagged as demo, and everything that shows it says so.
//
// # What may go wrong, and what then happens
//
//   - The process dies at any line: the next start continues with the first step that is not
//     done. It looks for each report and each exception in the log before it requests it. The
//     shop is made in one transaction. A fleet or an alert that is sent again changes nothing.
//   - Two processes fill at once: they take turns by an advisory lock, and the second finds the
//     steps done. No process holds the lock while it waits for the measurements.
//   - The projections lag: Fill waits for them. It holds up only another process that wants to
//     fill, or to start.
//   - Somebody renames or removes a demo server: the next start sends the fleet again, as a feed
//     does. A removed server comes back as a new one.
//   - Somebody registers a connection for a simulated server, or removes one: the agents send
//     nothing about it, and continue with the others.
//   - A report expires before a member downloaded it: it keeps no download.
//   - Fire comes before Fill: it sends no alerts until the notification rules exist.
//   - Filling takes so long that Tomás's schedule is due before he is disabled: it requests one
//     report, and is paused from then on.
//   - The demo is stopped while a schedule is due twice: the missed due times are listed, as in
//     any organization.
//   - Somebody removes a schedule, a channel or a rule, or enables Tomás again: that stays.
//   - Names cannot be looked up: creating the three channels takes up to nine seconds longer.
//   - Somebody closes an alert that still fires: Fire leaves it closed, so the visitor sees
//     that. The next start raises it again, as any sender would. The demo acknowledges and mutes
//     an alert only once, so a visitor can undo that.
//   - The demo is stopped for a month: the next start closes the alerts that have ended since
//     and adds the new ones. The measurements of the last day are there before the demo is
//     ready, and the rest follows.
//   - Somebody removes a server with an alert: messages of Fire about it are refused, and the
//     other alerts continue.
//   - Two processes measure at once: they take turns, batch by batch, by another lock. A process
//     that has lost its lock finds the minutes recorded, and its batch is rolled back.
//   - The set of measured minutes is lost: everything is written again, and the store has it
//     already. Samples that are cut at other minutes may then count twice, in a demo.
//   - The clock goes back: minutes in the future are not written twice when they come.
//   - No process has the role workers, so nothing rolls up samples: Begin does. The scorecard of
//     a server's past is requested when a process has that role.
package demo
