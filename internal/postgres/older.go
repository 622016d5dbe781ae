package postgres

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"muster/internal/statement"
)

// OlderProgramsError says that programs from before a Contract still run, which it would
// break.
type OlderProgramsError struct {
	Where []string // their addresses
}

func (e *OlderProgramsError) Error() string {
	return fmt.Sprintf("an older Muster still runs on this database (%s): stop it or replace it first", strings.Join(e.Where, ", "))
}

// poolName is what the connections of a pool are called on the server. It says up to which
// migration the program knows; those of before there were steps said nothing.
func poolName(name string) string {
	known, err := KnownSchemaVersion()
	if err != nil {
		return "muster/" + name
	}
	return fmt.Sprintf("muster/%s@%d", name, known)
}

//go:embed sql/older_programs.sql
var olderPrograms string

// requireNoOlder returns an *OlderProgramsError where a program is connected that does not
// know a migration. One that has no connection just now is not seen.
func requireNoOlder(ctx context.Context, db *sqlx.DB, version int64) error {
	where, err := statement.All[string](ctx, db, "look who else runs", olderPrograms, version)
	if err == nil && len(where) > 0 {
		err = &OlderProgramsError{Where: where}
	}
	return err
}
