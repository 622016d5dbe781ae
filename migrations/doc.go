// Package migrations embeds the database schema as goose SQL files.
//
// Each file belongs to one package, named in its first comment line, and no
// foreign key crosses from one package's tables into another's: a read model
// must be droppable without touching what it was built from. The head also says who may
// run beside it ("-- Step: expand"; internal/postgres, Step).
package migrations
