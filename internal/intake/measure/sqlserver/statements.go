package sqlserver

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/internal/intake/measure"
	"muster/internal/servers"
)

// What the statements of a database are read from.
const (
	fromQueryStore = "query store"
	fromPlanCache  = "plan cache"
	// fromPlanCacheAway is the plan cache without what was executed ad hoc: a database is away.
	fromPlanCacheAway = "plan cache, a database is away"
)

// Statements reads the counters of each database from its query store if that counts, otherwise
// from the plan cache. A part that cannot be read costs only its own databases.
func (r *reader) Statements(ctx context.Context, l *measure.Line) (*measure.List, error) {
	before, err := readClocks(ctx, l)
	if err != nil {
		return nil, err
	}
	was := r.sources
	r.denied, r.sources = make(map[uint32]bool), make(map[uint32]string)
	line, budget := r.within(l, r.listBudget())
	entries, errs := r.readStores(ctx, line, before.Now, was)
	if l.Closed() || ctx.Err() != nil {
		return nil, errors.Join(errs...)
	}
	if r.server.sees {
		own, _ := r.within(line, r.ownBudget())
		errs = append(errs, r.readOwn(ctx, own, before.Now))
		found, err := r.readCache(ctx, line, before)
		if l.Closed() || ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		entries, errs = append(entries, found...), append(errs, err)
	}
	r.left = max(budget.left, 0)
	if len(r.sources) == 0 {
		return nil, errors.Join(errs...)
	}
	after, err := readClocks(ctx, l)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e measure.Entry) bool { return r.own[e.Statement] })
	list := measure.NewList(before.Clocks, after.Clocks, r.remembered(entries, before, after))
	list.Sources = r.sources
	return list, errors.Join(errs...)
}

// clocks are the server's, and how many minutes its local time is ahead of UTC.
type clocks struct {
	measure.Clocks
	offset int64
}

func readClocks(ctx context.Context, l *measure.Line) (c clocks, err error) {
	row, err := servers.Row(ctx, l, 3, query("clocks"))
	if err != nil {
		return clocks{}, err
	}
	for i, field := range []*int64{&c.Now, &c.offset, &c.Started} {
		if *field, err = strconv.ParseInt(row[i], 10, 64); err != nil {
			return clocks{}, measure.ErrNonsense
		}
	}
	return c, nil
}

// refused is no error where we may not read a query store: Missing says that.
func (r *reader) refused(d database, err error) error {
	if refusal, ok := errors.AsType[*servers.Refusal](err); ok && refusal.Reason == servers.Denied {
		r.denied[d.id] = true
		return nil
	}
	return err
}

// readCache reads the plan cache, for all databases that were not read from their query stores
// and that accept sessions.
func (r *reader) readCache(ctx context.Context, l *measure.Line, at clocks) (list []measure.Entry, away error) {
	others := make(map[uint32]bool)
	except := []string{"0"}
	for _, d := range r.databases {
		if r.sources[d.id] != "" {
			except = append(except, strconv.FormatUint(uint64(d.id), 10))
		} else if !d.closed() {
			others[d.id] = true
		}
	}
	if len(others) == 0 {
		return nil, nil
	}
	entries, away, err := r.readKnown(ctx, l, except, others, at)
	source := fromPlanCache
	if isAway(err) {
		refused := err
		r.cache = cache{}
		if entries, err = r.readPlans(ctx, l, plans{away: true}, except, others, at); err == nil {
			// The statements of the others are whole but for what was executed ad hoc, so they are not compared.
			source, away = fromPlanCacheAway, refused
		}
	}
	if refusal, ok := errors.AsType[*servers.Refusal](err); ok && refusal.Reason == servers.Denied {
		r.server.sees = false // it has been taken from us since the last look at the sessions
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for id := range others {
		r.sources[id] = source
	}
	return entries, away
}

// readKnown reads what was executed since the last look, or all if it was long ago, and adds what is known of the rest.
// If all take too long, they are left alone for ten minutes, and why says so.
func (r *reader) readKnown(ctx context.Context, l *measure.Line, except []string, of map[uint32]bool, at clocks) (entries []measure.Entry, why, err error) {
	goesOn := r.cache.goesOn(of, at)
	entries, err = r.readPlans(ctx, l, plans{recent: goesOn}, except, of, at)
	if !goesOn {
		r.cache.why = nil
		if isLate(err) && !l.Closed() {
			r.cache.why = err
			if entries, err = r.readPlans(ctx, l, plans{recent: true}, except, of, at); isLate(err) { // no time was left
				r.cache.take(nil, false, of, at)
			}
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return r.cache.take(entries, goesOn, of, at), r.cache.why, nil
}

// plans are which plans of the cache are read, and how.
type plans struct {
	away   bool // a database is: they are known by the databases of their texts
	recent bool // those that were executed of late
}

// readPlans reads the entries of some databases, but for those that are excepted.
func (r *reader) readPlans(ctx context.Context, l *measure.Line, which plans, except []string, of map[uint32]bool, at clocks) (entries []measure.Entry, err error) {
	bit := map[bool]string{false: "0", true: "1"}
	text := strings.NewReplacer("@databases", strings.Join(except, ", "), "@away", bit[which.away], "@recent", bit[which.recent]).Replace(query("plan_cache"))
	err = l.Each(ctx, servers.Statement{Columns: 7, Text: text}, func(row [][]byte) error {
		e, err := cacheEntry(row, at.offset)
		if err == nil && of[e.Database] {
			entries = append(entries, e)
		}
		return err
	})
	return entries, err
}

// isAway says whether the server refuses a whole view because one database of many is away.
func isAway(err error) bool {
	refusal, ok := errors.AsType[*servers.Refusal](err)
	return ok && slices.Contains([]string{"error 927", "error 942", "error 976", "error 978"}, refusal.Code)
}

// readOwn finds out which statements are Muster's. They are in no list: on a quiet server they would be the
// slowest. Those that were executed of late are enough: the others are not counted.
func (r *reader) readOwn(ctx context.Context, l *measure.Line, now int64) error {
	const margin = 3 // minutes
	minutes := int64(margin)
	if r.own != nil {
		minutes += max(now-r.ownAt, 0) / microsecondsPerMinute
	}
	own := map[measure.Statement]bool{}
	text := strings.ReplaceAll(query("own_statements"), "@minutes", strconv.FormatInt(minutes, 10))
	err := l.Each(ctx, servers.Statement{Columns: 1, Text: text}, func(row [][]byte) error {
		statement, err := statementOf(row[0])
		if err != nil {
			return measure.ErrNonsense
		}
		own[statement] = true
		return nil
	})
	if servers.ReasonOf(err) == servers.Denied {
		return nil
	}
	if err != nil {
		return err
	}
	if r.own == nil {
		r.own = own
	}
	maps.Copy(r.own, own)
	r.ownAt = now
	return nil
}

const microsecondsPerMinute = 60 * 1_000_000

// cacheEntry is what a statement of a cached plan did.
func cacheEntry(row [][]byte, offset int64) (measure.Entry, error) {
	database, err1 := strconv.ParseUint(string(row[0]), 10, 32)
	var id [16]byte
	n, err2 := hex.Decode(id[:], row[1][:min(len(row[1]), 32)])
	statement, err3 := statementOf(row[2])
	calls, err4 := strconv.ParseInt(string(row[3]), 10, 64)
	total, err5 := strconv.ParseInt(string(row[4]), 10, 64)
	created, err6 := strconv.ParseInt(string(row[5]), 10, 64)
	begun := created
	var err7 error
	if row[6] != nil { // executed once, which ended then: before, it had no counters
		begun, err7 = strconv.ParseInt(string(row[6]), 10, 64)
	}
	if errors.Join(err1, err2, err3, err4, err5, err6, err7) != nil || n != len(id) {
		return measure.Entry{}, measure.ErrNonsense
	}
	which := [2]uint64{binary.BigEndian.Uint64(id[:]), binary.BigEndian.Uint64(id[8:])}
	return measure.Entry{
		Key: measure.Key{Database: uint32(database), Entry: which}, Statement: statement,
		Calls: calls, TotalMs: float64(total) / 1000, Since: max(created, begun) - offset*microsecondsPerMinute,
	}, nil
}

// statementOf is a statement by its query_hash, which the query store and the plan cache
// agree on.
func statementOf(hash []byte) (measure.Statement, error) {
	n, err := strconv.ParseUint(string(hash), 16, 64)
	return measure.Statement{n}, err
}

// Name names a statement in its database by its query_hash.
func (r *reader) Name(s measure.Statement) string {
	text := strconv.FormatUint(s[0], 16)
	return strings.Repeat("0", 16-len(text)) + text
}

// in puts a database's name into a query.
func in(database, text string) string {
	return strings.ReplaceAll(text, "{database}", "["+strings.ReplaceAll(database, "]", "]]")+"]")
}
