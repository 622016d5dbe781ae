// Package migrations embeds the database schema as goose SQL files.
//
// Each file belongs to one package, which its first comment line names. No foreign key crosses
// from one package's tables to another's: a read model must be droppable without touching its
// source. The head of a file also says which versions may run beside it ("-- Step: expand";
// internal/postgres, Step).
package migrations
