// Package migrations embeds the database schema as goose SQL files.
//
// Each file belongs to one package, named in its first comment line, and no
// foreign key crosses from one package's tables into another's: a read model
// must be droppable without touching what it was built from.
package migrations
