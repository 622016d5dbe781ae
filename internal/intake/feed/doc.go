// Package feed has the doors of the native feed (contract, §18.1 to 18.3 and §23): what
// another tool knows of instances and databases, of alerts, what it measured, and what it
// found on instances that Muster does not assess itself.
//
// A call is all or nothing, and the same one again changes nothing. Its form has been
// held against openapi.yaml before; here are the rules that a schema cannot say. Those
// of the fleet and of alerts are their use cases', which hold them under the locks that
// they write under; those of samples are in rules.go, of assessments in
// assessment_rules.go. All that are broken are told.
//
// A token that is limited to instances is told of every item beyond them, and before any
// other rule that would tell which instances there are.
//
// An assessment is made into what a collector would have kept (snapshot.Assessment,
// snapshot.Classification, changes.State), so that nobody after it asks where it came
// from. What a check is called, how grave it is and what to do about it is the
// catalogue's: no sender gives a statement. Names of what was found on a server are kept
// as they are, whatever letters they have: whoever can name a table must not be able to
// hide what is wrong with it by having the call refused.
//
// Texts of statements are normalized here, whoever sent them, before anything has them:
// no batch ever holds one as it was sent, and neither do errors, which name places.
// Where the organization keeps no texts they are dropped.
//
// # What may go wrong
//
//   - A rule is broken, or an item is beyond the token's limit: *commands.RuleError with
//     a pointer to each, up to 10,000 of a call's samples; nothing is written.
//   - An instance was registered a moment ago and the read model does not have its
//     engine within a second: *intake.LaggingError; nothing is written.
//   - Samples come too late, for an hour that is sealed: dropped and counted.
//   - Two agents measure the same instance, or an agent and another feed: the first one
//     that says who it is (Items.Sender) has its statements, the others are refused
//     whole (instance_held), until five minutes after its last call. Who takes over
//     begins where the one before ended (counted). Sessions and hosts are taken of all
//     of them: package pgstore says why they do not count twice.
//   - An agent measures an instance that has a connection: its sessions and statements
//     are refused (assessed_by_collector), by the transaction that would keep them. One that
//     did not see the connection yet keeps an interval that ended before Muster's own
//     first look, which only begins one.
//   - A feed that does not say who it is measures an instance that has a connection: it is
//     taken, as ever, and statements count twice. Who registers the connection of what
//     such a feed measures has to end that.
//   - An assessment comes after a later one: it counts on its day, the findings of the
//     instance are made anew from all that is stored, and no change is told. A history
//     that is sent backwards, call by call, costs the square of its length; one call
//     with all of it does not.
//   - A check is new to the catalogue: the sender did not tell of it, so that it is not
//     assessed until the sender does.
//   - A connection is registered for an instance that a feed assesses: what was sent
//     stays as its history, and the feed is refused from then on (assessed_by_collector).
//   - An instance is removed: what was sent of it goes with it, or with the next round of
//     the collectors where the process died in between.
package feed
