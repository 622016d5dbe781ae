package oracle

import (
	"context"
	_ "embed" // the query

	"muster/internal/intake/measure"
	"muster/internal/servers"
)

//go:embed sql/password.sql
var passwordQuery string

// Notes says that our password expires soon.
func (r *reader) Notes(ctx context.Context, l *measure.Line) ([]string, error) {
	row, err := servers.Row(ctx, l, 1, passwordQuery)
	if err != nil {
		return nil, err
	}
	return measure.PasswordExpires(row[0]), nil
}
