package sqlserver

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"muster/internal/engine/sqlserver"
	"muster/internal/intake/measure"
	"muster/internal/intake/sqltext"
	"muster/internal/servers"
)

// Texts reads texts from where the counters were read. What a query store refuses costs its
// own database.
func (r *reader) Texts(ctx context.Context, l *measure.Line, of []measure.Ref) (map[measure.Ref]string, error) {
	wanted, hashes := make(map[measure.Ref]bool, len(of)), make(map[uint32][]string)
	var cached []string
	for _, ref := range of {
		wanted[ref] = true
		hash := "0x" + r.Name(ref.Statement)
		if r.sources[ref.Database] == fromQueryStore {
			hashes[ref.Database] = append(hashes[ref.Database], hash)
		} else {
			cached = append(cached, hash)
		}
	}
	texts := make(map[measure.Ref]string, len(of))
	take := func(database uint32, hash, text []byte) error {
		statement, err := statementOf(hash)
		if err != nil {
			return measure.ErrNonsense
		}
		if ref := (measure.Ref{Database: database, Statement: statement}); text != nil && wanted[ref] {
			texts[ref] = sqltext.Normalize(sqlserver.Engine.Dialect, string(text))
		}
		return nil
	}
	for _, d := range r.databases {
		if len(hashes[d.id]) == 0 {
			continue
		}
		text := servers.WithList(in(d.name, query("query_store_texts")), hashes[d.id])
		err := l.Each(ctx, 2, text, func(row [][]byte) error { return take(d.id, row[0], row[1]) })
		if _, refused := errors.AsType[*servers.Refusal](err); err != nil && !refused {
			return nil, err
		}
	}
	if len(cached) == 0 {
		return texts, nil
	}
	slices.Sort(cached)
	text := servers.WithList(query("plan_cache_texts"), slices.Compact(cached))
	err := l.Each(ctx, 3, text, func(row [][]byte) error {
		database, err := strconv.ParseUint(string(row[0]), 10, 32)
		if err != nil {
			return measure.ErrNonsense
		}
		if r.sources[uint32(database)] == fromQueryStore {
			return nil // the same statement, told from there
		}
		return take(uint32(database), row[1], row[2])
	})
	return texts, err
}
