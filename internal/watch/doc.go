// Package watch is the built-in watch: it judges how servers are, and three figures, by five
// rules. It raises and resolves alerts, so that there are some without any other tool.
//
// # How it works
//
// Whoever takes in samples (intake/push, for all of them) hands the figures that a
// rule judges to Record, after the samples are kept. The table signs holds the
// freshest one of each subject: a server, or a volume of a host. Every ten seconds each process with
// the role workers judges them (Run) under the thresholds in their organization's
// settings:
//
//	down        nobody can connect to a server, for ten seconds, or it went
//	            down three times within five minutes                           critical
//	silent      whatever reports a server has been quiet for SilentMinutes     critical
//	volume      more than VolumePercent of a volume is in use                  warning, from 95 % critical
//	lock_wait   a session has waited for a lock for more than LockWaitMinutes,
//	            or ten or more for 90 s                                        warning
//	wraparound  more than WraparoundPercent of the transaction ids are used    critical
//
// What is in breach goes through commands.RecordFirings, as what Alertmanager sends
// does, at every judgement again: as long as it lasts, and once when it is over. The
// alert's key is watch/<rule>/<instance><mount>, of a volume with the host's id in the place of
// the instance's; a server that is removed and
// registered again has a new id, and alerts of its own. Run also closes the alerts
// whose senders said until when they hold and have not been heard of again, and unmutes
// those that somebody muted until a time that has come by the database's clock.
//
// Whether a server is down or silent package status decides. Each judgement asks it about
// every server (observe), and writes a sign of those that are down or silent, or that were and
// are not any more. Of a server whose state is unknown it writes none: the alert stays as it
// is, for nobody looked.
//
// Servers that go down are told of after 25 seconds instead of ten where others may follow:
// three went of late, or most of the others were not tried since. Where more than half of an
// organization's servers are down, at least five are known, and they went within a minute, one
// alert speaks of all. It lasts until half of them are up; a server that stays down then gets
// an alert of its own. Servers that nobody looked at lately count as down for its end.
//
// A server that is restarted every 20 seconds is up at most looks, and no outage lasts for ten
// seconds. Three falls within five minutes raise its alert all the same, "keeps going down",
// which lasts until five minutes after the last one. Where more than half of the servers keep
// going down, one alert speaks of all.
//
// # A breach
//
// A row remembers since when its subject has been in breach, and until when the last
// breach was. Every breach is told with the same beginning until it is over, which
// is how an alert that a person resolved stays resolved while it lasts. The next
// begins later than the last one did, so it is an alert of its own. The four states
// of a row:
//
//	since  until
//	null   null   calm, and always was
//	time   null   in breach: told at every judgement, while a fresh figure says so
//	time   time   over, but perhaps nobody was told
//	null   time   calm again
//
// Only a figure of the last five minutes (Fresh) judges. An older one neither raises
// nor resolves: an alert stays as it is until somebody measures again or resolves it.
// A volume that is taken away while it is too full is gone once its host has told its other
// volumes twice without it, over two minutes: a message may lack a volume that the next one
// of the same scrape brings, and a file system may not answer for a moment. Of a host that
// tells no volume any more nobody knows, and the alert waits for a person.
//
// Volumes are a host's, and those that share their space are one (package push groups them):
// the alert names the servers that are on the host by its last sample, and belongs to the one
// that was registered first.
//
// A server is silent only for as long as somebody has been there to hear it. Processes that
// take in samples say so in watch_state every ten seconds (Listen); time without them is
// nobody's silence. That is measured for the installation and not for this process, because
// it may be another process, or the database, that was away.
//
// A server that is removed or switched off is forgotten: its alert is closed and its
// figure dropped (value is null); the next one counts as the first, and the row stays
// for a day, so that the dropped one does not come back when it is sent again.
//
// Alerts of other senders stay open until these say that they are over. Those about a server
// that was removed are closed by CloseVanished, with a note that says why, for their sender may
// never do so; those about a server that is switched off stay.
//
// # What may go wrong, and what then happens
//
//   - A process dies between noting that a breach began and telling it: the next
//     judgement tells it, with the beginning that was noted. Between noting the end
//     and telling it: likewise. A breach that began and ended so is told once, as an
//     alert that is over.
//   - Two processes judge at once: a row moves only if it still is what was judged, so
//     one of them notes. Both may tell; RecordFirings locks the keys, and the same
//     beginning and end are nothing new.
//   - A judgement is slow and tells a breach after another process told its end: it
//     began when the closed alert did, so it is that one. Or its end after the next
//     began: an end before the beginning of an alert does not concern it.
//   - A sample arrives while its sign is judged: the row is locked, or not what was
//     judged any more, and is left to the next judgement. Nobody waits.
//   - A process dies between keeping samples and recording their signs: the next
//     sample of the server brings them again.
//   - A sample comes twice, late, or from a past that is imported: it is not newer, or
//     not fresh, and is not kept.
//   - A sender's clock is off: up to five minutes ahead, its figure counts as measured
//     when it came. Further ahead, or slow by more than Fresh, its samples cannot be
//     told from old ones: its figures are not judged, and in the end its server counts as
//     silent, which leads somebody to the clock.
//   - The clocks of Muster's machines differ: silence is judged early or late by as
//     much. Nothing else depends on it.
//   - The intake, or the database, was away, or a backup was restored: nobody is silent
//     until it has been back for as long as the threshold.
//   - Of two processes one is away: without the one that connects to servers, these are
//     unknown. Without the one that agents send to, while the other listens, what agents
//     report counts as silent. Nobody watches these servers then, which is what the alert
//     leads somebody to.
//   - The fleet's read model lags or is filled anew: a server that is missing there is
//     not taken for removed before the read model has passed the head of the log.
//   - A server refuses nine of ten connections: it is up for as long as our own connection
//     lasts, for it answers; it is down while all our attempts are refused.
//   - Muster stands still: see package status. An alert about many servers stays open.
//   - A threshold is changed: the next judgement goes by it. A breach that ends by it
//     ends at that judgement.
package watch
