// Package printable detects names that could mislead a reader, and makes them safe to print.
//
// A name with a line break can forge the next line of a log, of a mail's header or of a
// command's output. A name with an escape sequence can repaint a terminal. A name with a
// character that reverses the writing direction reads as another name. Forms and feeds refuse
// such names (Name). Muster cannot refuse the names that agents send, because an agent sends the
// same name again; it cleans them (Clean). Names already in the log stay as they are and are
// cleaned where they are printed: in mail headers, in command output and in the process's log.
// PDFs print the code point of characters that they cannot show (package typeset).
//
// Names of databases that would be the same after cleaning stay different (Names).
//
// What may go wrong: two other names from an agent that differ only in such a character become
// the same name. Letters of two scripts that look alike are not told apart.
package printable
