// Package alert is the life of an alert: raised, perhaps acknowledged or muted,
// and closed by somebody or by itself.
//
// An Alert is folded from its events and decides what a message or a person
// adds to them. Which event may follow which state is one table, Transitions.
// Three kinds of callers decide:
//
//   - a person (Acknowledge, Mute, Unmute, Resolve), who is told by an error what
//     makes no sense;
//   - a feed that knows the whole life of its alerts (Update with a Notice), and
//     may import history;
//   - a machine that sees something fire or be over (Fire with a Firing), knows
//     nothing of what people did, and may come in pairs.
//
// The last two never fail: what makes no sense changes nothing. Both decide on
// the newest alert under a key; where they lead to another one (Outcome.Anew),
// the events are that one's.
//
// A mute may have an end. It ends then by an event of its own (EndMute), whoever looks
// first; until somebody does, the alert stays muted. What a person wrote about what they
// did is the event behind that one (Noted).
//
// An open alert that is seen every minute costs one event an hour. In between,
// until when it was seen stands beside the log (Seen), which the caller keeps and
// hands back; the event that closes the alert carries the final value. So it goes with a
// machine's texts, for many are templates with the latest value in them: they are beside the
// log as they are now, and in it once an hour and at a machine's end. Severity and place follow
// in the log at once.
//
// A machine's alert is over when all senders that saw it fire have said so, or the ends that
// they announced have passed (Sender). A sender that speaks for another, as the members of an
// Alertmanager cluster do, ends what names no end. Where senders cannot be told apart the first
// one closes the alert, and the other's next message raises it again.
//
// A Memento is everything that the next decision depends on, so that a caller who
// keeps it need not fold the stream. Texts are in it as a digest.
//
// What may go wrong, and what then happens:
//
//   - A message comes twice: the second time the alert is as it says, and nothing
//     follows.
//   - Messages come in another order than they were sent. Of a machine's: the window
//     of firing only grows, an end that is older than the latest start is passed
//     over, and so is everything older than the end of the alert before (Raised.After).
//     Of a feed's: until when it fired only grows; of the rest the last to arrive holds.
//   - A pair of servers sees the same alert start seconds apart: it is one alert,
//     from the earlier start on. After a person closed it, a start that was named while it
//     was open is still that alert's (Resolved.StartedAt).
//   - One of a pair ends an alert, the other one sees it firing still: it stays open.
//   - A resolved message is lost and the alert fires again: it is another occurrence
//     of the same alert where more than two minutes lie between. A pair's second
//     server that starts later than that is one too.
//   - The sender falls silent: the alert lapses at its announced end. Should it come
//     back, it is a new alert from that end on.
//   - A sender without an end falls silent, as a member of a cluster for which another one
//     spoke: a day after another has ended the alert, it is over.
//   - An instance or a database is removed while its alert fires: the labels of the
//     next message lead nowhere, and the alert stays where it is. Registered again,
//     it takes the alert along.
//   - A machine's clock is behind by more than its announced ends reach: what it sees
//     firing is over when it comes, and closes what another machine sees as well.
//   - A machine's clock is ahead: its times are those of the receipt. One that is
//     ahead by more than it waits between two messages seems to start anew with each
//     of them, until its own start has come.
package alert
