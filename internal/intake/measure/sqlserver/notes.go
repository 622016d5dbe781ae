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
	objective, err := r.serverless(ctx, l)
	if err != nil || objective == "" {
		return notes, err
	}
	return append(notes, "The database is serverless ("+objective+"). While it is measured, it does not pause, and costs money. "+
		"With letPause=true in the connection string, Muster leaves it alone while nobody uses it."), nil
}

// Pauses says whether it is serverless. One whose pausing is switched off looks alike, and is left alone in vain.
func (r *reader) Pauses(ctx context.Context, l *measure.Line) (bool, error) {
	objective, err := r.serverless(ctx, l)
	return objective != "", err
}

// serverless is the service objective of a serverless database; empty: it is none.
func (r *reader) serverless(ctx context.Context, l *measure.Line) (string, error) {
	if !r.server.azure() {
		return "", nil
	}
	row, err := servers.Row(ctx, l, 1, query("objective"))
	if err != nil || !strings.Contains(row[0], "_S_") {
		return "", err
	}
	return row[0], nil
}
