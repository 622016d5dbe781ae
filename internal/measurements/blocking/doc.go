// Package blocking keeps who held up whom: which sessions of a server waited for a lock of another
// one, and who was at the root of it.
//
// # How it works
//
// While a session waits for a lock, and only then, a collector or an agent asks its server at every
// look who waits for whom (package measure). The answer is a Look: sessions and, of those that
// wait, for whom. Look.Samples makes a Sample of each class of locks, the engine's and advisory
// ones. A tree counts if one of its sessions has waited for two seconds. After the last such
// sample, one without sessions says that nobody waits any more.
//
// Record stores samples and makes episodes of them. An episode begins with the first sample in
// which somebody waits and ends with the first one in which nobody does. Its session-seconds are a
// sum over its samples: each session that waits counts with the time that it waited since the look
// before, so what it waits after the last sample is not in it. The root of an episode is that of
// the sample with the most waiting sessions.
//
// A root waits for nobody. If several hold others up, the one that most sessions wait behind counts
// (Roots). Sessions that wait for each other in a circle have no such root: one of them is chosen,
// the same one at each look, and the circle is named. It lasts until the engine detects the
// deadlock, for a second with PostgreSQL's default.
//
// All trees of one time are one episode of a server, whatever the number of their roots. The sample
// that ends an episode may say how the last root let the others go (End): whoever looks asks once
// for the root's session then.
//
// A session is known by its id and by the time at which it began, because servers use ids again.
//
// A deadlock is kept apart (Deadlock), with its sides: where the server reports those, and where a look
// saw sessions wait for each other in a circle. Where the server counts deadlocks without telling their
// databases, their number is kept.
//
// # Bounds
//
// A sample has at most 500 sessions, those that have waited longest, each with everybody who holds
// it up. Of each session at most 20 blockers are named: in a queue, everybody waits for everybody
// before. In the first ten minutes of an episode each sample keeps its tree, later one a minute
// does, and each with more sessions than before. Samples are kept for 72 hours, episodes for 400
// days. Of deadlocks, the sides of the newest one of a database in ten minutes are kept, at most 20
// sessions, for 35 days.
//
// # What may go wrong
//
//   - Samples come late, twice, or in another order: the episodes are made anew from the samples
//     around, and are those that would have been made in time. They keep their ids. Of two samples
//     of one time the first one counts.
//   - A sample that was deleted is in its episode's sums. If a late sample parts such an episode, the
//     first part has them.
//   - Whoever looks dies, or cannot see the sessions any more: an episode of which no sample comes
//     for five minutes has ended at its last one, as far as anybody knows (Episode.Seen). Samples
//     after a shorter gap continue it.
//   - A session waits for less time than there is between two looks: nobody sees it. Most deadlocks are
//     over by the next look, too: then their sides are known only where the server reports them.
//   - The blocker ends between the two reads of one look: those that wait only for it are left out.
//   - More than 500 sessions wait: the others are counted, and their seconds are not.
//   - Two processes record samples of one server at once: the second waits for the first.
//   - A name or a text has control characters, or is long: it is cleaned and cut (package printable).
//     Users, applications and clients are personal data. Who may see them is decided where they are
//     shown.
package blocking
