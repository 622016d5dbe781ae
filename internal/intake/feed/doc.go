// Package feed has the doors of the native feed (contract, §18.1 to 18.3): what another
// tool knows of instances and databases, of alerts, and what it measured.
//
// A call is all or nothing, and the same one again changes nothing. Its form has been
// held against openapi.yaml before; here are the rules that a schema cannot say. Those
// of the fleet and of alerts are their use cases', which hold them under the locks that
// they write under; those of samples are in rules.go. All that are broken are told.
//
// A token that is limited to instances is told of every item beyond them, and before any
// other rule that would tell which instances there are. Assessments (contract, §23) will
// be a door beside these.
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
package feed
