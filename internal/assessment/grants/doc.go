// Package grants describes a missing grant: whether Muster needs it, what it reveals to its
// holder, and whether an organization may decline it. It puts the grants of a server into one
// script.
//
// Of is a function of the object and the statement that an inspector or a collector wrote, so
// grants that an older program stored are judged in the same way. A grant is needed if measuring
// depends on it, or if more depends on it than the check of one secret. The scripts to run first
// (postgresql/grants.sql and its siblings) have exactly the needed grants. A grant is optional
// if it opens a secret, or if little is lost without it.
//
// A declined object covers the grant of that object in that database. If it names no database,
// it covers all databases, including later ones.
//
// # What may go wrong
//
//   - An object is not known here: it counts as needed, and may be declined.
//   - A name cannot be passed to psql (it has line breaks): the script says so in a comment, and
//     has no statement for that database.
package grants
