package sqlserver

import (
	"context"
	"strings"

	"muster/internal/intake/measure"
	"muster/internal/servers"
)

// Notes says that our password expires soon, and that a serverless database of Azure, such as GP_S_Gen5_2, does not
// pause any more, which costs money.
func (r *reader) Notes(ctx context.Context, l *measure.Line) ([]string, error) {
	row, err := servers.Row(ctx, l, 1, query("password"))
	if err != nil {
		return nil, err
	}
	notes := measure.PasswordExpires(row[0])
	if !r.server.azure() {
		return notes, nil
	}
	row, err = servers.Row(ctx, l, 1, query("objective"))
	if err != nil || !strings.Contains(row[0], "_S_") {
		return notes, err
	}
	return append(notes, "The database is serverless ("+row[0]+"). While it is measured, it does not pause, and costs money."), nil
}
