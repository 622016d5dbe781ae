// Package dictionary keeps the keys and texts of statements: a row of measured_statements has the
// database, the key, the text, and the first and last time of a statement. Samples and details
// have only its hash.
//
// A statement is written when it is new, when its text changes, and once an hour while it is
// executed. A process remembers the statements that it found or wrote (RememberStatements), and
// looks none of them up again in that hour. It may remember them only after the commit.
//
// Texts are written under a share lock of the organization's row (KeepsTexts), and deleted under
// an exclusive lock of it (DropTexts). So no writer brings a deleted text back.
//
// Names of waits, users, applications and clients are rows of measured_names, once for an
// organization, by their hashes. Those of people are written and deleted in the same way
// (HoldsPeople, DropPeople). A process believes for half a minute what an organization decided
// (WithoutPeople), and its key; until then samples may have hashes, but no names. It remembers for an hour that
// it wrote a name. Hashes of people need the organization's key (SetNameKey), which is replaced with
// the names: whoever comes back has another hash.
//
// What may go wrong: a process dies, and loses its memory. The next process looks each statement
// up once.
package dictionary
