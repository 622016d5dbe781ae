// Package grants describes a missing grant: whether Muster needs it, what it reveals to its
// holder, and whether an organization may decline it. It puts the grants of a server into one
// script.
//
// Of is a function of the object and the statement that an inspector or a collector
// wrote, so that grants that were stored by an older program are judged alike. A grant is
// needed where measuring, or more than one secret's check, depends on it; the scripts to
// run first (postgresql/grants.sql and its siblings) have exactly those. It is optional
// where what it opens is a secret, or little is lost without it.
//
// A declined object covers the grant of that object in that database, and, where it names
// no database, in all of them, also in those to come.
//
// # What may go wrong
//
//   - An object that is not known here: it counts as needed, and may be declined.
//   - A name that psql cannot be given (line breaks): the script says so in a comment, and
//     has no statement for that database.
package grants
