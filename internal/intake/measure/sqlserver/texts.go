package sqlserver

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"muster/internal/engine/sqlserver"
	"muster/internal/intake/measure"
	"muster/internal/intake/sqltext"
	"muster/internal/servers"
)

// Texts reads texts from where the counters were read. What a query store refuses costs its own database. All together
// have what the counters left of the look (lookBudget); what that leaves out is asked for later. Databases that have waited
// longest are first, so that each has its turn.
func (r *reader) Texts(ctx context.Context, l *measure.Line, of []measure.Ref) (map[measure.Ref]string, error) {
	wanted, stored := make(map[measure.Ref]bool, len(of)), make(map[uint32][]measure.Ref)
	var cached []string
	var fromCache []measure.Ref
	for _, ref := range of {
		wanted[ref] = true
		if r.sources[ref.Database] == fromQueryStore {
			stored[ref.Database] = append(stored[ref.Database], ref)
		} else {
			cached, fromCache = append(cached, "0x"+r.Name(ref.Statement)), append(fromCache, ref)
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
	var later []measure.Ref
	all := r.textBudget()
	line, budget := r.within(l, all)
	waited := slices.DeleteFunc(slices.Clone(r.databases), func(d database) bool { return len(stored[d.id]) == 0 })
	slices.SortStableFunc(waited, func(a, b database) int { return cmp.Compare(r.storeOf(a).texted, r.storeOf(b).texted) })
	r.texted++
	for _, d := range waited {
		refs := stored[d.id]
		before := budget.left
		if before <= 0 {
			later = append(later, refs...)
			continue
		}
		err := r.storedTexts(ctx, line, d, refs, texts)
		if isLate(err) && before < all/2 { // there was little time left
			later = append(later, refs...)
		} else {
			r.storeOf(d).texted = r.texted
		}
		if _, refused := errors.AsType[*servers.Refusal](err); err != nil && !refused {
			return nil, err
		}
	}
	before := budget.left
	if err := r.cachedTexts(ctx, line, cached, take); isLate(err) && before < all/2 {
		later = append(later, fromCache...)
	} else if err != nil {
		return texts, err
	}
	if len(later) > 0 {
		return texts, &measure.TextsLeftError{Of: later}
	}
	return texts, nil
}

// storedTexts reads texts of a query store by their numbers.
func (r *reader) storedTexts(ctx context.Context, l *measure.Line, d database, of []measure.Ref, texts map[measure.Ref]string) error {
	named, ids := make(map[string][]measure.Ref, len(of)), []string{}
	for _, ref := range of {
		if id, known := r.storeOf(d).texts[ref.Statement]; known {
			text := strconv.FormatInt(id, 10)
			named[text], ids = append(named[text], ref), append(ids, text)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return l.Each(ctx, servers.Statement{Columns: 2, Text: in(d.name, query("query_store_texts")), List: ids}, func(row [][]byte) error {
		for _, ref := range named[string(row[0])] {
			if row[1] != nil {
				texts[ref] = sqltext.Normalize(sqlserver.Engine.Dialect, string(row[1]))
			}
		}
		return nil
	})
}

// cachedTexts reads texts of the plan cache by hashes.
func (r *reader) cachedTexts(ctx context.Context, l *measure.Line, cached []string, take func(database uint32, hash, text []byte) error) error {
	if len(cached) == 0 {
		return nil
	}
	slices.Sort(cached)
	statement := servers.Statement{Columns: 3, Text: query("plan_cache_texts"), List: slices.Compact(cached)}
	return l.Each(ctx, statement, func(row [][]byte) error {
		database, err := strconv.ParseUint(string(row[0]), 10, 32)
		if err != nil {
			return measure.ErrNonsense
		}
		if r.sources[uint32(database)] == fromQueryStore {
			return nil // the same statement, told from there
		}
		return take(uint32(database), row[1], row[2])
	})
}
