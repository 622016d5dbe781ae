// Package watch is the built-in monitoring: it judges the state of servers, and figures of them, by the
// rules of its catalogue. It raises and resolves alerts, so Muster has alerts without any other tool.
//
// # How it works
//
// A rule is one value, a Definition (rules_*.go): its words, unit, threshold and severity, who measures
// its figure, the title of its alert, what it means and what to do. A new rule is a new value, and
// nothing else knows its name. The settings of an organization say whether a rule is on, its threshold, for
// how long a figure has to be beyond it, and the severity, by tags of servers (organization.WatchSetting).
// The threshold for all servers of four rules is with the organization's other settings, as it always was.
//
// The code that accepts samples (intake/push, for all of them) passes the figures of the rules to
// Record, after the samples are stored: those that follow from the samples (Figures), and those that
// who measures sends beside. The table signs holds the newest one of each subject: a server, or a volume
// of a host. Every ten seconds each process with the role workers judges them (Run). judge.sql finds the
// figures that may be beyond any threshold of their organization; judged.decide decides.
//
// Record also keeps, for 31 days, what the watch may judge: of each minute the figure that is farthest on
// the side of a breach (sign_hours, a row for a subject and an hour). History judges these figures with
// settings that somebody considers, by judged.decide as well, so a preview is what would have happened. It
// reads only the hours in which a figure is beyond a threshold, and the hour after each, and holds those of one subject. What two figures of
// one minute do in between is lost, and so is the time between them. That a server is down or silent has figures
// only while it is, from ten seconds on.
//
// Waits for advisory locks are apart (Advisory), and an organization may leave them out
// (Watch.AdvisoryLocks).
//
// A breach goes through commands.RecordFirings, as the alerts of Alertmanager do: at every
// judgment as long as it lasts, and once when it is over. The alert's key is
// watch/<rule>/<instance><mount>; for a volume, the host's id replaces the instance's. A server
// that is removed and registered again has a new id, and alerts of its own. Run also closes
// alerts whose announced end has passed without a new message, and unmutes alerts whose mute has
// ended by the database's clock.
//
// The title of an alert about a wait for a lock says who holds the sessions up, if the collector or
// the agent reported that (package blocking). The event that raises the alert keeps the tree of that
// moment, at most 100 sessions, and nothing changes it later. Neither has users, applications,
// clients or statements, because events stay forever. Users, applications and clients are kept
// beside the log, for the organization's inputsRetentionDays (package people), and readers who may
// see them get the title with their names (alert.Named).
//
// Package status decides whether a server is down or silent. Each judgment asks it about every
// server (observe). It writes a sign for servers that are down or silent, or that were and are
// not any more. For a server in state unknown it writes none: the alert stays as it is, because
// nothing looked at the server.
//
// Servers that go down are reported after 25 seconds instead of ten if others may follow: three
// went down recently, or most of the others were not tried since. If more than half of an
// organization's servers are down, at least five are known, and they went down within a minute,
// one alert covers all. It lasts until half of them are up; a server that stays down then gets
// an alert of its own. For its end, servers without a recent look count as down.
//
// A server that is restarted every 20 seconds is up at most looks, and no outage lasts for ten
// seconds. Three failures within five minutes raise its alert anyway, "keeps going down", which
// lasts until five minutes after the last one. If more than half of the servers keep going down,
// one alert covers all.
//
// # A breach
//
// A row remembers since when its figure has been beyond the threshold (pending), if the setting asks for
// some time, since when its subject has been in breach, and until when the last breach
// lasted. Every breach is reported with the same beginning until it is over, so an alert that a
// person resolved stays resolved while the breach lasts. The next breach begins later than the
// last one did, so it is an alert of its own. A row has four states:
//
//	since  until
//	null   null   calm, and always was
//	time   null   in breach: reported at every judgment, while a fresh figure says so
//	time   time   over, but perhaps not reported yet
//	null   time   calm again
//
// Only a figure of the last five minutes (Fresh) counts. An older one neither raises nor
// resolves: an alert stays as it is until somebody measures again or resolves it. A volume that
// is removed while it is too full counts as gone once its host has reported its other volumes
// twice without it, over two minutes. A message may lack a volume that the next one of the same
// scrape brings, and a file system may not answer for a moment. If a host reports no volume any
// more, its state is unknown, and the alert waits for a person.
//
// Volumes belong to a host, and those that share their space are one (package push groups them).
// The alert names the servers on the host by its last sample, and belongs to the one that was
// registered first.
//
// A server is silent only for as long as a process could have heard it. Processes that accept
// samples record that in watch_state every ten seconds (Listen); time without them does not
// count as silence. That is measured for the installation and not for this process, because
// another process, or the database, may have been away.
//
// A server that is removed or switched off is forgotten: its alert is closed and its figure
// dropped (value is null). The next figure counts as the first. The row stays for a day, so the
// dropped figure does not come back when it is sent again.
//
// Alerts of other senders stay open until these senders close them. CloseVanished closes those
// about a removed server, with a note that says why, because their sender may never do so. Those
// about a server that is switched off stay.
//
// # What may go wrong, and what then happens
//
//   - A process dies between recording the beginning of a breach and reporting it: the next
//     judgment reports it, with the recorded beginning. The same applies to the end. A breach
//     that began and ended in this way is reported once, as an alert that is over.
//   - Two processes judge at once: a row changes only if it is still as judged, so one of them
//     records. Both may report. RecordFirings locks the keys, and the same beginning and end add
//     nothing.
//   - A judgment is slow and reports a breach after another process reported its end: it began
//     when the closed alert did, so it is that one. Or it reports its end after the next one
//     began: an end before the beginning of an alert does not concern it.
//   - A sample arrives while its sign is judged: the row is locked, or no longer as judged, and
//     is left to the next judgment. Nobody waits.
//   - A process dies between storing samples and recording their signs: the next sample of the
//     server brings them again.
//   - A sample comes twice, late, or from an imported past: it is not newer, or not fresh, and
//     is not recorded.
//   - A sender's clock is off: up to five minutes ahead, its figure counts as measured when it
//     came. If it is further ahead, or slow by more than Fresh, its samples cannot be told from
//     old ones: its figures are not judged, and in the end its server counts as silent, which
//     leads somebody to the clock.
//   - The clocks of Muster's machines differ: silence is judged early or late by the difference.
//     Nothing else depends on it.
//   - The intake, or the database, was away, or a backup was restored: no server is silent until
//     it has been back for as long as the threshold.
//   - One of two processes is away. If it is the one that connects to servers, these are
//     unknown. If it is the one to which agents send, while the other listens, what agents
//     report counts as silent. Nothing monitors these servers then, and the alert leads somebody
//     to that.
//   - The fleet's read model lags or is filled anew: a server that is missing there counts as
//     removed only after the read model has passed the head of the log.
//   - A server refuses nine of ten connections: it is up as long as Muster's own connection
//     lasts, because it answers. It is down while all of Muster's attempts are refused.
//   - Muster stands still: see package status. An alert about many servers stays open.
//   - A threshold is changed: the next judgment uses it. A breach that ends by it ends at that
//     judgment.
package watch
