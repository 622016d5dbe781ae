package postgres

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// OlderProgramsError says that programs from before a migration still run, which the migration
// would break.
type OlderProgramsError struct {
	File  string   // the migration
	Where []string // the programs' addresses
}

func (e *OlderProgramsError) Error() string {
	return fmt.Sprintf("an older Muster still runs on this database (%s), and migration %s would break it: "+
		"stop the older one on every machine first (docs/runbooks/upgrade.md)", strings.Join(e.Where, ", "), e.File)
}

// poolName is the name of a pool's connections on the server. It says up to which migration the
// program knows; programs from before steps had no such name.
func poolName(name string) string {
	known, err := KnownSchemaVersion()
	if err != nil {
		return "muster/" + name
	}
	return fmt.Sprintf("muster/%s@%d", name, known)
}

//go:embed sql/older_programs.sql
var olderPrograms string

// OlderPrograms says where programs are connected from that do not know a migration. A
// program without a connection at that moment is not seen.
func OlderPrograms(ctx context.Context, db *sqlx.DB, version int64) ([]string, error) {
	return statement.All[string](ctx, db, "look who else runs", olderPrograms, version)
}

// requireNoOlder returns an *OlderProgramsError where OlderPrograms finds any.
func requireNoOlder(ctx context.Context, db *sqlx.DB, version int64, file string) error {
	where, err := OlderPrograms(ctx, db, version)
	if err == nil && len(where) > 0 {
		err = &OlderProgramsError{File: file, Where: where}
	}
	return err
}
