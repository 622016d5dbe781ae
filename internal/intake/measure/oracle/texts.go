package oracle

import (
	"context"
	_ "embed" // the queries
	"slices"

	"muster/internal/engine/oracle"
	"muster/internal/intake/measure"
	"muster/internal/intake/sqltext"
	"muster/internal/servers"
)

//go:embed sql/texts.sql
var textsQuery string

//go:embed sql/cluster_texts.sql
var clusterTextsQuery string

// idsAtOnce is how many statements a query names at most: a list may have 1,000.
const idsAtOnce = 500

// naming are statements of a query about some SQL_IDs.
func naming(columns int, query string, ids []string) (statements []servers.Statement) {
	slices.Sort(ids)
	for some := range slices.Chunk(slices.Compact(ids), idsAtOnce) {
		statements = append(statements, servers.Statement{Columns: columns, Text: query, List: some})
	}
	return statements
}

// Texts reads texts, of one of the statements where some differ in their literals alone.
func (r *reader) Texts(ctx context.Context, l *measure.Line, of []measure.Ref) (map[measure.Ref]string, error) {
	if r.last == nil {
		return nil, nil
	}
	asked := make(map[measure.Ref]bool, len(of))
	for _, ref := range of {
		asked[ref] = true
	}
	wanted, ids := make(map[string][]measure.Ref), []string{}
	for _, e := range r.last.Entries {
		if ref := (measure.Ref{Database: e.Database, Statement: e.Statement}); asked[ref] {
			id := sqlID(e.Entry[0])
			wanted[id], ids = append(wanted[id], ref), append(ids, id)
			delete(asked, ref) // one is enough
		}
	}
	texts := make(map[measure.Ref]string, len(of))
	for _, statement := range naming(2, r.in(textsQuery, clusterTextsQuery), ids) {
		rows, err := servers.Ask(ctx, l, statement)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			text := sqltext.Normalize(oracle.Engine.Dialect, row[1])
			for _, ref := range wanted[row[0]] {
				texts[ref] = text
			}
		}
	}
	return texts, nil
}
