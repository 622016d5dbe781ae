package sqlserver

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"muster/internal/intake/measure"
	"muster/internal/servers"
)

// What the statements of a database are read from.
const (
	fromQueryStore = "query store"
	fromPlanCache  = "plan cache"
)

// Statements reads the counters of each database from its query store if that counts, otherwise
// from the plan cache. A part that cannot be read costs only its own databases.
func (r *reader) Statements(ctx context.Context, l *measure.Line) (*measure.List, error) {
	before, err := readClocks(ctx, l)
	if err != nil {
		return nil, err
	}
	r.denied, r.sources = make(map[uint32]bool), make(map[uint32]string)
	var entries []measure.Entry
	var errs []error
	for _, d := range r.databases {
		found, err := r.readStore(ctx, l, d)
		if l.Closed() || ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		if err != nil {
			err = &measure.DatabaseError{Database: d.name, Err: err}
		}
		entries, errs = append(entries, found...), append(errs, err)
	}
	if r.server.sees {
		found, err := r.readCache(ctx, l, before)
		if l.Closed() || ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		entries, errs = append(entries, found...), append(errs, err)
	}
	if len(r.sources) == 0 {
		return nil, errors.Join(errs...)
	}
	after, err := readClocks(ctx, l)
	if err != nil {
		return nil, err
	}
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

// readStore reads the query store of a database, if that counts what is executed now. That
// we may not is no error: Missing says it.
func (r *reader) readStore(ctx context.Context, l *measure.Line, d database) ([]measure.Entry, error) {
	if !d.store || !d.online || !d.accessible || d.secondary {
		return nil, nil
	}
	rows, err := servers.Query(ctx, l, 2, in(d.name, query("query_store_state")))
	if err != nil {
		return nil, r.refused(d, err)
	}
	const writes, capturesNothing = "2", "3"
	if len(rows) != 1 || rows[0][0] != writes || rows[0][1] == capturesNothing {
		return nil, nil
	}
	text := query("query_store")
	if r.server.replicas {
		text = query("query_store_2022")
	}
	var entries []measure.Entry
	err = l.Each(ctx, 8, in(d.name, text), func(row [][]byte) error {
		e, err := storeEntry(d.id, row)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, r.refused(d, err)
	}
	r.sources[d.id] = fromQueryStore
	return entries, nil
}

func (r *reader) refused(d database, err error) error {
	if refusal, ok := errors.AsType[*servers.Refusal](err); ok && refusal.Reason == servers.Denied {
		r.denied[d.id] = true
		return nil
	}
	return err
}

// storeEntry is what a plan did in an interval of the query store.
func storeEntry(database uint32, row [][]byte) (measure.Entry, error) {
	var n [7]int64
	var errs []error
	for i, column := range []int{0, 1, 3, 4, 5, 6, 7} {
		value, err := strconv.ParseInt(string(row[column]), 10, 64)
		n[i], errs = value, append(errs, err)
	}
	statement, err := statementOf(row[2])
	if errors.Join(append(errs, err)...) != nil {
		return measure.Entry{}, measure.ErrNonsense
	}
	plan, interval, calls, total, longest, begun, first := n[0], n[1], n[2], n[3], n[4], n[5], n[6]
	return measure.Entry{
		Key:       measure.Key{Database: database, Entry: [2]uint64{uint64(plan), uint64(interval)}}, //nolint:gosec // G115: numbers of rows
		Statement: statement, Calls: calls, TotalMs: float64(total) / 1000, MaxMs: float64(longest) / 1000,
		// It had no counters before the interval began, nor before an execution ended.
		Since: max(begun, first),
	}, nil
}

// readCache reads the plan cache, for all databases that were not read from their query stores
// and that accept sessions.
func (r *reader) readCache(ctx context.Context, l *measure.Line, at clocks) ([]measure.Entry, error) {
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
	var entries []measure.Entry
	err := l.Each(ctx, 7, strings.ReplaceAll(query("plan_cache"), "@databases", strings.Join(except, ", ")), func(row [][]byte) error {
		e, err := cacheEntry(row, at.offset)
		if err == nil && others[e.Database] {
			entries = append(entries, e)
		}
		return err
	})
	if refusal, ok := errors.AsType[*servers.Refusal](err); ok && refusal.Reason == servers.Denied {
		r.server.sees = false // it has been taken from us since the last look at the sessions
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for id := range others {
		r.sources[id] = fromPlanCache
	}
	return entries, nil
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
