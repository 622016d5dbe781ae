package sqlserver

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/servers"
)

const (
	// stateEvery is how often the state of a query store is read where sys.databases says that it is off. On
	// Azure, and after a failover, that may be wrong.
	stateEvery = int64(10 * time.Minute / time.Microsecond)
	// slowFor is for how long a query store is left alone that did not answer in time.
	slowFor = int64(10 * time.Minute / time.Microsecond)
)

// store is what is known of the query store of a database.
type store struct {
	plans     map[int64]measure.Statement // of which statements the plans are; of the server's own: internal
	queries   map[int64]measure.Statement
	texts     map[measure.Statement]int64 // the number of the text of its latest query
	plan      int64                       // up to which plan and query they are known
	query     int64
	first     int64           // of the last look: the first interval
	begun     map[int64]int64 // likewise: when each interval began
	primaries string          // under which numbers primary replicas are kept
	looked    int64           // when its state was read, by the server's clock
	slow      int64           // until when it is left alone
	why       error           // it is
	texted    int             // in which round its texts were asked for; 0: in none
}

// internal stands for queries of the server's own. It is no query_hash: those have 64 bits.
var internal = measure.Statement{0, 1}

// readStores reads the query stores, those first that were read at the last look: what is read now and then
// cannot be compared. What the budget leaves out is read from the plan cache. A store that cannot be read
// costs its own database.
func (r *reader) readStores(ctx context.Context, l *measure.Line, now int64, was map[uint32]string) (entries []measure.Entry, errs []error) {
	order := slices.Clone(r.databases)
	slices.SortStableFunc(order, func(a, b database) int {
		return rank(was[a.id] == fromQueryStore) - rank(was[b.id] == fromQueryStore)
	})
	line, budget := r.within(l, r.storeBudget())
	for _, d := range order {
		before := budget.left
		if before <= 0 {
			break
		}
		found, err := r.readStore(ctx, line, d, now)
		if s := r.stores[d.id]; isLate(err) && before < r.storeBudget()/2 && s.slow == now+slowFor { // there was little time left
			s.slow, s.why, err = 0, nil, nil
		}
		if l.Closed() || ctx.Err() != nil {
			return nil, append(errs, err, ctx.Err())
		}
		if err != nil {
			err = &measure.DatabaseError{Database: d.name, Err: err}
		}
		entries, errs = append(entries, found...), append(errs, err)
	}
	return entries, errs
}

// isLate says whether a statement was stopped because its time was over.
func isLate(err error) bool {
	refusal, ok := errors.AsType[*servers.Refusal](err)
	return ok && refusal.Code == late
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// storeOf is what is known of the query store of a database.
func (r *reader) storeOf(d database) *store {
	if r.stores == nil {
		r.stores = make(map[uint32]*store)
	}
	if r.stores[d.id] == nil {
		r.stores[d.id] = &store{}
	}
	return r.stores[d.id]
}

// readStore reads the query store of a database, if that counts what is executed now. That
// we may not is no error: Missing says it.
func (r *reader) readStore(ctx context.Context, l *measure.Line, d database, now int64) ([]measure.Entry, error) {
	const master = 1 // which has none
	if !d.online || !d.accessible || d.secondary || d.id == master && !r.server.azure() {
		delete(r.stores, d.id)
		return nil, nil
	}
	s := r.storeOf(d)
	switch {
	case now < s.slow:
		return nil, s.why
	case !d.store && !r.server.azure() && s.looked != 0 && now-s.looked < stateEvery:
		return nil, nil
	}
	s.looked = now
	entries, err := r.lookIntoStore(ctx, l, d, s)
	if isLate(err) {
		s.slow, s.why = now+slowFor, err
	}
	return entries, r.refused(d, err)
}

func (r *reader) lookIntoStore(ctx context.Context, l *measure.Line, d database, s *store) ([]measure.Entry, error) {
	begun, err := readIntervals(ctx, l, d)
	if err != nil || begun == nil {
		return nil, err
	}
	if len(begun) == 0 { // nothing was executed in it so far
		r.sources[d.id] = fromQueryStore
		return nil, nil
	}
	first := int64(0)
	for id := range begun {
		if first == 0 || id < first {
			first = id
		}
	}
	if !s.goesOn(begun) {
		*s = store{looked: s.looked}
	}
	s.first, s.begun = first, begun
	counters, err := r.readCounters(ctx, l, d, s)
	if err != nil {
		return nil, err
	}
	if err := s.nameAll(ctx, l, d, counters); err != nil {
		return nil, err
	}
	var entries []measure.Entry
	for _, c := range counters {
		statement, known := s.plans[c.plan]
		at, listed := begun[c.interval]
		if !known || !listed || statement == internal { // the plan was dropped meanwhile, or the interval ended long ago
			continue
		}
		entries = append(entries, measure.Entry{
			Key:       measure.Key{Database: d.id, Entry: [2]uint64{uint64(c.plan), uint64(c.interval)}}, //nolint:gosec // G115: numbers of rows
			Statement: statement, Calls: c.calls, TotalMs: float64(c.total) / 1000, MaxMs: float64(c.longest) / 1000,
			// It had no counters before the interval began, nor before an execution ended.
			Since: max(at, c.first),
		})
	}
	r.sources[d.id] = fromQueryStore
	return entries, nil
}

// goesOn says whether a store has an interval of the last look. One that was cleared numbers its intervals and
// plans anew.
func (s *store) goesOn(begun map[int64]int64) bool {
	for id, at := range s.begun {
		if begun[id] == at {
			return true
		}
	}
	return false
}

// readIntervals reads when the latest intervals of a query store began; nil: it does not count what is
// executed now.
func readIntervals(ctx context.Context, l *measure.Line, d database) (map[int64]int64, error) {
	begun := map[int64]int64{}
	counts := false
	err := l.Each(ctx, servers.Statement{Columns: 4, Text: in(d.name, query("query_store_state"))}, func(row [][]byte) error {
		const writes, capturesNothing = "2", "3"
		counts = string(row[0]) == writes && string(row[1]) != capturesNothing
		if row[2] == nil {
			return nil
		}
		numbers, err := numbersIn(row[2:])
		if err == nil {
			begun[numbers[0]] = numbers[1]
		}
		return err
	})
	if err != nil || !counts {
		return nil, err
	}
	return begun, nil
}

// counter is what a plan did in an interval of a query store.
type counter struct{ plan, interval, calls, total, longest, first int64 }

func (r *reader) readCounters(ctx context.Context, l *measure.Line, d database, s *store) ([]counter, error) {
	text := query("query_store")
	if r.server.replicas {
		if err := s.readPrimaries(ctx, l, d, r.server.azure()); err != nil {
			return nil, err
		}
		text = strings.ReplaceAll(query("query_store_2022"), "@primaries", s.primaries)
	}
	var counters []counter
	text = strings.ReplaceAll(in(d.name, text), "@first", strconv.FormatInt(s.first, 10))
	err := l.Each(ctx, servers.Statement{Columns: 6, Text: text}, func(row [][]byte) error {
		n, err := numbersIn(row)
		if err == nil {
			counters = append(counters, counter{n[0], n[1], n[2], n[3], n[4], n[5]})
		}
		return err
	})
	return counters, err
}

// readPrimaries reads under which numbers a query store keeps what primary replicas did. Where it does not
// say so, which Azure SQL Database does not, that is 1.
func (s *store) readPrimaries(ctx context.Context, l *measure.Line, d database, azure bool) error {
	s.primaries = "1"
	if azure {
		return nil
	}
	rows, err := servers.Query(ctx, l, 1, in(d.name, query("query_store_replicas")))
	if _, refused := errors.AsType[*servers.Refusal](err); err != nil && (!refused || l.Closed()) {
		return err
	}
	var groups []string
	for _, row := range rows {
		if _, err := strconv.ParseInt(row[0], 10, 64); err != nil {
			return measure.ErrNonsense
		}
		groups = append(groups, row[0])
	}
	if len(groups) > 0 {
		s.primaries = strings.Join(groups, ", ")
	}
	return nil
}

// nameAll finds out of which statements the plans are that have counters. Plans and queries are numbered as
// they come, so only those that are new are read; if one is unknown that is not new, all are.
func (s *store) nameAll(ctx context.Context, l *measure.Line, d database, counters []counter) error {
	unknown := false
	for _, c := range counters {
		if _, known := s.plans[c.plan]; !known {
			unknown = true
			if c.plan <= s.plan {
				s.plan, s.query = 0, 0
			}
		}
	}
	if !unknown {
		return nil
	}
	if s.plan == 0 {
		s.plans, s.queries, s.texts = map[int64]measure.Statement{}, map[int64]measure.Statement{}, map[measure.Statement]int64{}
	}
	after := func(name string, last int64) string {
		return strings.ReplaceAll(in(d.name, query(name)), "@after", strconv.FormatInt(last, 10))
	}
	err := l.Each(ctx, servers.Statement{Columns: 4, Text: after("query_store_queries", s.query)}, func(row [][]byte) error {
		id, err := strconv.ParseInt(string(row[0]), 10, 64)
		statement, hashErr := statementOf(row[1])
		text, textErr := strconv.ParseInt(string(row[3]), 10, 64)
		if errors.Join(err, hashErr, textErr) != nil {
			return measure.ErrNonsense
		}
		if string(row[2]) == "1" {
			statement = internal
		}
		s.texts[statement] = max(s.texts[statement], text)
		s.queries[id], s.query = statement, max(s.query, id)
		return nil
	})
	if err != nil {
		return err
	}
	return l.Each(ctx, servers.Statement{Columns: 2, Text: after("query_store_plans", s.plan)}, func(row [][]byte) error {
		n, err := numbersIn(row)
		if err != nil {
			return err
		}
		if statement, known := s.queries[n[1]]; known { // else it came since the queries were read
			s.plans[n[0]], s.plan = statement, max(s.plan, n[0])
		}
		return nil
	})
}

// numbersIn are the numbers in a row.
func numbersIn(row [][]byte) ([]int64, error) {
	numbers := make([]int64, len(row))
	for i, value := range row {
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return nil, measure.ErrNonsense
		}
		numbers[i] = n
	}
	return numbers, nil
}
