// Package alerting has the use cases of alerts: it records the messages of feeds and machines and
// the actions of people, and ends alerts that no message has mentioned for a while.
//
// Alerts come by the thousand, and most messages contain nothing new. The memento of an alert
// is stored beside its key, and the domain decides from it. So a batch of any size costs a few
// statements and loads no stream. The time at which an open alert was last seen is in
// alert_last_seen, where readers join it. The log gets that time once an hour and when the alert
// is closed, which deletes the row. Every writer of an alert (feed, machine, person or sweep)
// holds the lock of its key. The key leads to the newest alert under it; older alerts are
// written without the key. The end of a mute is also in alert_mutes, for the sweep, and is
// written in the transaction of the event that sets it. The order of locks is that of package
// commands.
//
// What may go wrong, and what then happens:
//
//   - The same batch of alerts comes twice at once, to two processes: one waits for the keys and
//     then finds every alert as the batch describes it. A batch is one transaction. If its
//     process dies, all of the batch is recorded or nothing, in alert_last_seen, too.
//   - A repeated message races with a person: the second decides on the result of the first. A
//     mute, an acknowledgement and a resolution hold in both orders. Only a feed whose messages
//     mention muting can set it.
//   - A sweep (EndFirings) races with a message or with another sweep: each begins by closing
//     alerts that have ended. So the first closes them and the others find them closed. A
//     message that still sees the alert firing then raises the next one, which starts at that
//     end. If a sweep dies or does not run, the next sweep or message makes up for it; until
//     then an alert that has ended counts as open.
//   - Two sweeps find the same mute over (EndMutes), or a person mutes or unmutes the alert at
//     that moment: each holds the lock of its key, and the second finds no row that is due. A
//     mute ends at the first sweep after its time by the database's clock. Until then the alert
//     counts nowhere.
//   - An alert is resolved while it is muted until a given time: it stays muted until then, and
//     counts in the history from then on.
//   - An instance is removed while an alert about it comes in: the alert may still be raised on
//     it, as if it had come before the removal.
//   - A release writes mementos that another release does not know: the other release folds the
//     stream.
//   - A sender's budget is used up: the whole message is refused, and none of it is written. A
//     message that raises no alert and closes some always passes. Only the memento says which
//     token raised an alert. If an alert is folded again, because its memento is of another
//     release, it belongs to no token; the token's count is right again after the next full
//     count.
//   - A writer bypassed the locks: the append finds a *eventstore.ConflictError, and the use case
//     decides again from the streams, because the mementos are out of date.
package alerting
