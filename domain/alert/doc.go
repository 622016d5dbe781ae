// Package alert is the life of an alert: it is raised, may be acknowledged or muted, and is
// closed by a person or by the end of its condition.
//
// An Alert is folded from its events. Its methods decide which events a message or a person
// adds. One table, Transitions, says which event may follow which state. There are three kinds
// of callers:
//
//   - A person (Acknowledge, Mute, Unmute, Resolve). A request that does not fit the state
//     returns an error.
//   - A feed that knows the whole life of its alerts (Update with a Notice). It may import
//     history.
//   - A machine that sees a condition start or end (Fire with a Firing). It knows nothing of
//     what people did, and it may have a redundant twin.
//
// Feeds and machines never get an error: a message that does not fit the state changes nothing.
// Both act on the newest alert under a key. If the decision starts a new alert (Outcome.Anew),
// the events belong to the new one.
//
// A mute may have an end. The first caller that looks after the end records it as an event of
// its own (EndMute). Until then the alert stays muted. A person's note is a separate event that
// follows the event of the action (Noted).
//
// An open alert that is seen every minute adds one event an hour to the log. Between these
// events, the time at which it was last seen (Seen) is stored beside the log; the caller keeps
// it and hands it back. The event that closes the alert carries the final value. Texts from
// machines are handled the same way, because many are templates that contain the latest value:
// the current text is beside the log, and the log gets it once an hour and when the machine's
// alert ends. Changes of severity and place are recorded in the log at once.
//
// A machine's alert is over when every sender that saw it fire has reported its end, or when the
// announced ends have passed (Sender). Members of an Alertmanager cluster speak for each other:
// such a sender also ends firings that have no announced end. If senders cannot be told apart,
// the first one closes the alert, and the next message of the other raises it again.
//
// A Memento holds everything that the next decision depends on. A caller that keeps it does not
// have to fold the stream. It holds texts as a digest.
//
// What may go wrong, and what then happens:
//
//   - A message comes twice: the second one describes the state that the alert already has, and
//     adds no event.
//   - Messages arrive out of order. For machines, the firing window only grows. An end that is
//     older than the latest start is ignored, and so is everything older than the end of the
//     previous alert (Raised.After). For feeds, the end of firing only grows; for all other
//     fields the last message to arrive wins.
//   - Two redundant servers see the same alert start seconds apart: this is one alert, and it
//     starts at the earlier time. After a person has closed it, a start that was reported while
//     it was open still belongs to that alert (Resolved.StartedAt).
//   - One of two redundant servers ends an alert while the other still sees it firing: the alert
//     stays open.
//   - A resolved message is lost, and the alert fires again: if more than two minutes lie
//     between, this is a new occurrence of the same alert. A redundant server that starts more
//     than two minutes later is counted as a new occurrence, too.
//   - The sender falls silent: the alert ends at its announced end. If the sender comes back, it
//     raises a new alert that starts at that end.
//   - A sender without an announced end falls silent, for example a cluster member for which
//     another member spoke: the alert is over one day after another sender has ended it.
//   - An instance or a database is removed while its alert fires: the labels of the next message
//     match nothing, and the alert stays where it is. If the instance is registered again, the
//     alert moves to it.
//   - A machine's clock is behind by more than its announced ends: its firings are over when
//     they arrive, and they also close what another machine sees.
//   - A machine's clock is ahead: the time of receipt replaces its times. If it is ahead by more
//     than the pause between two of its messages, each message looks like a new start until the
//     machine's own start time has come.
package alert
