// Package notify sends notifications to people and programs: it matches each event of the logs
// against the rules, and delivers the matches to their receivers. internal/notify/channel has the kinds
// of channels.
//
// # How it works
//
//	logs ──group "notify"──> Dispatcher: deliveries, with their events ──job "notify"──> Sender: receivers
//	                         projection alerts: what is open, acknowledged, muted ─────────^
//
// The Dispatcher is a handler (projections.Runner.Handle): a group for each log, which the
// elected process runs beside the projections. One transaction puts a page's events into
// deliveries and moves the checkpoint. So each event is put once, whichever process dies, and in
// the log's order. An event that cannot be handled is set aside with its stream, shown among the
// dead letters, and delivered when it is retried. No rebuild touches the group's checkpoint: an
// event is never notified twice.
//
// The content of a notification is a function of the log. For the end of an alert, it uses the
// earlier events that described the alert, and those that named its servers (past.go). So it
// does not depend on the progress of a read model. The current state of alerts decides what of a
// delivery is sent and what is repeated. It comes from the projection alerts, and is rebuilt
// with it.
//
// A delivery is a group of events of one rule through one channel. It accepts events until its
// job runs, after the rule's groupSeconds or at the end of quiet hours. Then it is closed, and
// stays the same at every attempt: one id, one set of events. For a rule and channel, one
// delivery is sent at a time. Later events join the next one, however long that takes. So a
// channel that is away for a day has one delivery that is being tried and one that grows. 10,000
// alerts of that time are one message, and nothing overtakes anything.
//
// The job's lease, fence, backoff and end are those of handlers/jobs: attempts after 1, 16, 81
// seconds and so on for a day. Then the delivery is failed and its job is a dead letter, until
// somebody retries it with the same id.
//
// An alert may change: one about a volume that fills up becomes critical. It is then raised once
// for the rules that did not match it before. Every rule that sent the alert also sends its end,
// whatever the alert was by then.
//
// New findings come with the event of their assessment (fleet.InstanceAssessed), by check and
// severity: each of these is one event to send, under an id of its own.
//
// When a delivery is closed, it leaves out two kinds of events: the end of an alert whose raise
// was not sent through this rule and channel, and an alert that was muted meanwhile. It records in
// each event the team that owns the server then (owners.go). A channel of kind team also leaves
// out the events that nobody owns. An alert
// that is raised and resolved within quiet hours is suppressed at once.
//
// Chores: open alerts are repeated (repeatMinutes), by a rule with tags or teams only for as long as
// a server of the alert has them. Alertmanagers are fed each minute with all
// open alerts that match, and those resolved in the last 15 minutes, as Prometheus does.
// Deliveries are deleted after 90 days. Organizations that were created without a mail server
// get the initial rule when one is configured; those created with one get it with their first
// event (commands).
//
// # What may go wrong
//
//   - The process that handles the logs dies: its transaction is rolled back. Another one is
//     elected within a second or two and continues from the checkpoint. Two that believe that
//     they are elected take turns at it.
//   - An older program, which follows the logs by itself, runs beside this one or after it: each
//     records in notification_logs what it has sent, under the row's lock, and skips what the
//     other has sent (00132_notify_group.sql). An event that this program has set aside and the
//     older one has sent is sent again if it is retried.
//   - A log loses events, and its groups are set back to its end: later events are sent.
//   - The read model of alerts lags since the program started, as after an upgrade that fills it
//     anew: deliveries and chores wait for it. Later it may lag by moments: an alert that was
//     muted within them is sent.
//   - The Sender dies after the receiver accepted a message and before that is recorded: the
//     message is sent again under the same id. A mail is not sent again to recipients that are
//     recorded.
//   - Two Senders work on one delivery, because one only seemed dead: the fence lets one of them
//     record.
//   - A delivery is closed while an event is put into it: both take the lock of rule and
//     channel. The event is in this delivery or in the next.
//   - A delivery ends while the next one's job yields to it: both take that lock, the second
//     sees the first, and the process that ends a delivery queues the jobs of all that wait.
//   - A rule is changed: waiting events go out under the new name. A rule is removed or switched
//     off: waiting events are suppressed, also between two attempts. A channel is changed: the
//     next attempt goes to its new address.
//   - A server changes its team: a rule with teams matches the owner of the time at which the
//     Dispatcher handles the event. A channel of kind team leads to the owner of the time at which
//     its delivery is closed, and stays with it at later attempts. A team is deleted between two
//     attempts: the delivery is suppressed (no_recipients).
//   - The owners of servers cannot be read when a delivery is closed: it is sent without them, and the log
//     says so. A delivery of kind team is tried again until they can be read, and so is one to a
//     member with the role team.
//   - A member is disabled or erased: recipients are read at each attempt. If none is left, the
//     delivery is suppressed (no_recipients).
//   - An address of a channel that belongs to no member has not confirmed that it wants alerts:
//     nothing is sent there. After that, it gets the alerts of a delivery, and not its reports.
//   - The mail server is away for a day: there is one failed delivery and one that has grown.
//     The second is sent when the first has ended.
//   - The processes were away for days: the events of that time are sent when they are back,
//     grouped, with their own times.
//   - An event cannot be read: it waits among the dead letters, and later events of the same
//     alert or report wait behind it. All others are sent.
//   - A channel has a kind that this program does not know, because a newer one created it: this
//     is the fault of no event, and none is set aside. The group stops there, its checkpoint
//     says why, and it continues with a program that knows the kind. Nothing is sent in another
//     kind's form.
//   - Alerts that Muster feeds to an Alertmanager come back by its webhook: the door recognizes
//     them by their label and leaves them out (intake/alertmanager). A Muster webhook that
//     points at a Muster door is refused, and a delivery that fails is no event.
//   - The feed sends an alert again just after its resolution was sent, and may die then: for 15
//     minutes, each round sends resolved alerts after the firing ones.
//   - Of two processes that feed an Alertmanager, one knows an older severity, and feeds it
//     last: the next round sees that the labels that it has recorded differ, and ends those
//     alerts.
//   - Clocks are off: everything here uses the database's clock. This includes the time stamp of
//     a webhook's signature, so a receiver whose clock is off by minutes refuses it.
package notify
