// Package feed has the doors of the native feed (API contract, §18.1 to 18.3 and §23). Through
// it, another tool sends what it knows about instances and databases, alerts, samples, and
// assessments of instances that Muster does not assess itself.
//
// A call is all or nothing, and repeating it changes nothing. Its form was already checked
// against openapi.yaml; this package checks the rules that a schema cannot express. The rules of
// the fleet and of alerts belong to their use cases, which check them under the locks under
// which they write. The rules of samples are in rules.go, and those of assessments in
// assessment_rules.go. All broken rules are reported.
//
// A token that is limited to instances is told about every item beyond its limit, before any
// other rule that would reveal which instances exist.
//
// An assessment is converted to the form that a collector would have stored
// (snapshot.Assessment, snapshot.Classification, changes.State), so no later code asks where it
// came from. Name, severity and fix of a check come from the catalog: no sender provides a
// statement. Names of objects found on a server are stored as they are, with any characters.
// Otherwise a person who can name a table could hide a fault in it by having the call refused.
//
// Texts of statements are normalized here, whoever sent them, before any other code sees them.
// So no batch and no error ever contains one as it was sent; errors name the place of a
// statement. If the organization stores no texts, they are dropped.
//
// # What may go wrong
//
//   - A rule is broken, or an item is beyond the token's limit: *usecase.RuleError with a
//     pointer to each, up to 10,000 for the samples of a call. Nothing is written.
//   - An instance was registered a moment ago, and the read model does not have its engine
//     within a second: *intake.LaggingError. Nothing is written.
//   - Samples come too late, for an hour that is sealed: they are dropped and counted.
//   - Two agents measure the same instance, or an agent and another feed: the first that
//     identifies itself (Items.Sender) holds its statements, and those of the others are refused
//     as a whole (instance_held), until five minutes after the holder's last call. A successor
//     begins where the holder ended (counted). Sessions and hosts are accepted from all of them:
//     package pgstore says why they do not count twice.
//   - An agent measures an instance that has a connection: its sessions and statements are
//     refused (assessed_by_collector) by the transaction that would store them. An agent that
//     does not see the connection yet may store an interval that ended before Muster's own first
//     look, and that look only begins an interval.
//   - A feed that does not identify itself measures an instance that has a connection: its
//     samples are accepted, as ever, and statements count twice. Stop such a feed when you
//     register the connection.
//   - An assessment comes after a later one: it counts on its day, the findings of the instance
//     are computed anew from all stored assessments, and no change is reported. A history that
//     is sent backwards, call by call, costs the square of its length; one call with all of it
//     does not.
//   - A check is new in the catalog: the sender does not report it, and it is not assessed until
//     the sender does.
//   - A connection is registered for an instance that a feed assesses: the earlier assessments
//     stay as its history, and the feed is refused from then on (assessed_by_collector).
//   - An instance is removed: its assessments are deleted with it, or with the next round of the
//     collectors if the process died in between.
package feed
