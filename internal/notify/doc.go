// Package notify tells people and programs what happens: it holds each event of the logs against
// the rules, and sees what matched through to its receivers. internal/channel has the ways to send it.
//
// # How it works
//
//	logs ──group "notify"──> Dispatcher: deliveries, with their events ──job "notify"──> Sender: receivers
//	                         projection alerts: what is open, acknowledged, muted ─────────^
//
// The Dispatcher is a handler (projections.Runner.Handle): a group for each log, which the
// elected process runs beside the projections. One transaction puts a page's events into
// deliveries and moves the checkpoint. So each event is put once, whoever dies, and in the log's
// order. An event that cannot be handled is set aside with its stream, shown among the dead
// letters, and told when it is retried. No rebuild touches the group's checkpoint: what was
// told is never told again.
//
// What is told of an event is a function of the log: of an alert's end, the events before
// it that described the alert, and those that named its servers (past.go). No read model can be
// ahead or behind there. How alerts are now, which decides what of a delivery is told and what
// is told again, is the projection alerts, and is rebuilt as that is.
//
// A delivery is a group of events of one rule through one channel. It is open to more until
// its job runs, after the rule's groupSeconds or at the end of quiet hours; then it is closed,
// and is from then on the same at every attempt: one id, one set of events. Of a rule and
// channel one delivery at a time is being sent. What happens meanwhile joins the next, however
// long that takes: a channel that is away for a day has one delivery that is tried and one that
// grows, 10,000 alerts of that time are one message, and nothing overtakes anything.
//
// The job's lease, fence, back-off and end are those of handlers/jobs: an attempt after 1, 16,
// 81 seconds and so on for a day, then the delivery is failed and its job a dead letter, until
// somebody has it tried again, with the same id.
//
// An alert that changes, as one of a volume that fills up becomes critical, is raised
// for the rules that did not match it before, once. Its end is told by every rule that told it,
// whatever the alert was by then.
//
// New findings come with the event of their assessment (fleet.InstanceAssessed), by check and
// severity: each of these is one event to tell, under an id of its own.
//
// What is not told when a delivery is closed: that an alert was resolved whose raise was not
// sent through this rule and channel, and an alert that somebody muted meanwhile. What was
// raised and resolved within quiet hours is suppressed as it comes.
//
// Chores: open alerts are told again (repeatMinutes), Alertmanagers are fed (each minute,
// all that is open and matches, and what was resolved within 15, as Prometheus does), deliveries are deleted after 90 days,
// and organizations that were made without a mail server get the rule of the beginning when
// one is set. Those that are made with one get it with their first event (commands).
//
// # What may go wrong
//
//   - The process that handles the logs dies: the transaction ends with it. Another one is
//     elected within a second or two and goes on from the checkpoint. Two that believe to be
//     elected take turns at it.
//   - A program from before, which follows the logs by itself, runs beside this one, or after
//     it: each notes in notification_logs what it has told, under the row's lock, and passes
//     over what the other has (00132_notify_group.sql). An event that this one has set aside,
//     and that one tells, is told again if it is retried.
//   - A log loses events, and its groups are set back to its end: what comes there is told.
//   - The read model of alerts is behind since the program started, as after an upgrade that
//     fills it anew: deliveries wait for it, and so do the chores. Later it may be behind by
//     moments: an alert that was muted within them is told.
//   - The Sender dies after the receiver took a message and before it is noted: the message
//     is sent again under the same id. A mail goes again to none of the recipients that are noted.
//   - Two Senders work on one delivery, because one only seemed dead: the fence lets one record.
//   - A delivery is closed while an event is put into it: both hold the lock of rule and
//     channel. The event is in it, or in the next.
//   - A delivery ends while the next one's job yields to it: likewise; whoever comes second
//     sees the other, and who ends one queues the jobs of all that wait.
//   - A rule is changed: what waits goes out under the new name. It is removed or switched
//     off: what waits is suppressed, also between two attempts. A channel is changed: the next attempt goes to
//     its new address.
//   - A member is disabled or erased: recipients are read at each attempt. None is left: the
//     delivery is suppressed (no_recipients).
//   - An address of a channel that is no member's has not confirmed that it wants alerts:
//     nothing is sent there. It gets the alerts of a delivery, and not its reports.
//   - The mail server is away for a day: one failed delivery and one that has grown; the
//     latter is sent when the former has ended.
//   - The processes were away for days: what happened is told when they are back, grouped, with
//     its own times.
//   - An event cannot be read: it waits among the dead letters, and what happens to the same
//     alert or report waits behind it. All others are told.
//   - A channel has a kind that this program does not know, because a newer one made it: no
//     event is to blame and none is set aside. The group stops there, its checkpoint says why, and it
//     goes on with a program that knows the kind. Nothing is sent in another kind's form.
//   - Alerts that we feed to an Alertmanager come back by its webhook: the door knows them by
//     their label and leaves them out (intake/alertmanager). A webhook of ours at a door of
//     ours is refused, and a delivery that fails is no event.
//   - The feed sends an alert again just after its resolution was sent, and may die then: each
//     round says behind what fires what is over, for 15 minutes.
//   - Of two that feed an Alertmanager one knows an older severity, and feeds it last: the next
//     round sees that the labels it has noted are others, and ends these.
//   - Clocks are off: all of this goes by the database's. The time stamp of a webhook's signature
//     too, so a receiver whose clock is off by minutes refuses it.
package notify
