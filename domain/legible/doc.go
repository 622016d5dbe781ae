// Package legible tells plain names from misleading ones, and prints the misleading ones
// harmlessly.
//
// A name that ends a line forges the next line of a log, of a mail's head or of what a
// command prints; one with an escape sequence paints over what a terminal shows; one
// that turns the order of writing reads as another. Forms and feeds refuse such a name
// (Name). Agents cannot be refused, because they send the same again: what they say is
// cleaned (Clean). What is in the log from before stays there as it is, and is cleaned
// where it is printed: heads of mails, lines of commands and of the process's log. PDFs
// print the number of what they cannot show (package typeset).
//
// Names of databases that would be cleaned into one stay different (Names).
//
// What may go wrong: two other names of an agent's that differ only in such a rune become
// one. Letters that look alike in two scripts are not told apart.
package legible
