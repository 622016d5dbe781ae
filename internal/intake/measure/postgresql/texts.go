package postgresql

import (
	"context"
	_ "embed" // the query
	"errors"
	"strconv"
	"strings"

	"muster/internal/engine/postgresql"
	"muster/internal/intake/measure"
	"muster/internal/intake/sqltext"
	"muster/internal/servers"
)

//go:embed sql/texts.sql
var textsQuery string

// Texts reads texts: the server reads its whole file of them for that. A query has one
// text on whichever level it is called.
func (r *reader) Texts(ctx context.Context, l *measure.Line, of []measure.Ref) (map[measure.Ref]string, error) {
	wanted := make(map[measure.Ref]bool, len(of))
	queries := make([]string, len(of))
	for i, ref := range of {
		wanted[ref] = true
		queries[i] = strconv.FormatInt(int64(ref.Statement[0]), 10) //nolint:gosec // G115: as the server has it
	}
	texts := make(map[measure.Ref]string, len(of))
	err := l.Each(ctx, servers.Statement{Columns: 4, Text: strings.ReplaceAll(r.extension.texts, "@queries@", strings.Join(queries, ","))}, func(row [][]byte) error {
		database, err1 := strconv.ParseUint(string(row[0]), 10, 32)
		user, err2 := strconv.ParseUint(string(row[1]), 10, 32)
		query, err3 := strconv.ParseInt(string(row[2]), 10, 64)
		if errors.Join(err1, err2, err3) != nil {
			return measure.ErrNonsense
		}
		for _, topLevel := range []bool{true, false} {
			if ref := (measure.Ref{Database: uint32(database), Statement: statement(query, uint32(user), topLevel)}); wanted[ref] {
				texts[ref] = sqltext.Normalize(postgresql.Engine.Dialect, string(row[3]))
			}
		}
		return nil
	})
	return texts, err
}
