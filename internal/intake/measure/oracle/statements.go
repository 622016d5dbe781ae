package oracle

import (
	"context"
	_ "embed" // the queries
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/servers"
)

//go:embed sql/clock.sql
var clockQuery string

//go:embed sql/statements.sql
var statementsQuery string

//go:embed sql/cluster_statements.sql
var clusterStatementsQuery string

//go:embed sql/db_time.sql
var dbTimeQuery string

//go:embed sql/cluster_db_time.sql
var clusterDBTimeQuery string

// source is what entries are read from, wherever they are.
const source = "V$SQLSTATS_PLAN_HASH"

// slowFor is for how long the list is left alone after it took too long twice, in microseconds. The driver gives a
// session up that it interrupts, so each attempt is another logon, which the server may audit.
const slowFor = int64(10 * time.Minute / time.Microsecond)

// Statements reads the counters of all plans, and not only of those that were executed since the last look
// (LAST_ACTIVE_TIME): a plan that was dropped and loaded again is the same entry here, and shows only as one that was
// missing in between. With a list in part, the scenes of an eviction and a reset told executions that were none
// (internal/testing/truth). It finds out which of the new entries have
// certainly begun since the last list.
func (r *reader) Statements(ctx context.Context, l *measure.Line) (*measure.List, error) {
	r.askGranted(ctx, l.Session)
	if err := r.readInstances(ctx, l); err != nil || r.running == nil {
		return nil, err
	}
	before, ahead, err := readClock(ctx, l)
	if err != nil {
		return nil, err
	}
	if before.Now < r.slow.until {
		return nil, r.slow.why
	}
	var entries []measure.Entry
	answered := make(map[string]bool)
	err = l.Each(ctx, servers.Statement{Columns: 7, Text: r.in(statementsQuery, clusterStatementsQuery)}, func(row [][]byte) error {
		e, err := r.entry(row)
		entries = append(entries, e)
		if !answered[string(row[0])] { // which costs no memory
			answered[string(row[0])] = true
		}
		return err
	})
	if servers.ReasonOf(err) != servers.TimedOut {
		r.slow.times = 0
	} else if r.slow.times++; r.slow.times > 1 {
		r.slow.until, r.slow.why = before.Now+slowFor, err
	}
	if !r.may("statements", r.view(source), &err) {
		return nil, err
	}
	if r.cluster && len(answered) < len(r.running) { // there is none without a statement
		return nil, errPart
	}
	after, _, err := readClock(ctx, l)
	if err != nil {
		return nil, err
	}
	list := measure.NewList(before, after, entries)
	bornErr := r.judge(ctx, l, list, r.offset.certain(before.Now, ahead))
	list.Sources = make(map[uint32]string, len(r.databases))
	for _, d := range r.databases {
		list.Sources[d.ID] = source
	}
	r.last = list
	var activeErr error
	list.Active, activeErr = r.readActiveTime(ctx, l)
	return list, errors.Join(bornErr, activeErr)
}

// entry reads a row of the list.
func (r *reader) entry(row [][]byte) (measure.Entry, error) {
	instance, err1 := strconv.Atoi(string(row[0]))
	container, err2 := strconv.ParseUint(string(row[1]), 10, 32)
	id, err3 := sqlNumber(string(row[2]))
	signature, err4 := unsigned(row[3])
	plan, err5 := unsigned(row[4])
	calls, err6 := strconv.ParseInt(string(row[5]), 10, 64)
	elapsed, err7 := strconv.ParseFloat(string(row[6]), 64)
	if errors.Join(err1, err2, err3, err4, err5, err6, err7) != nil || plan >= 1<<62 {
		return measure.Entry{}, measure.ErrNonsense
	}
	return measure.Entry{
		Key: r.key(instance, uint32(container), id, plan), Statement: statement(signature, id, plan),
		Calls: calls, TotalMs: elapsed / 1000,
	}, nil
}

// key is what an entry is counted by: its SQL_ID as it is, and instance, start and plan in a
// hash. That two plans of one statement have the same is one in 2^64.
func (r *reader) key(instance int, container uint32, id, plan uint64) measure.Key {
	if !r.cluster { // its rows have no number
		for instance = range r.running {
			break
		}
	}
	h := fnv.New64a()
	of := append(strconv.AppendInt(strconv.AppendUint(nil, plan, 10), int64(-1-instance), 10), r.running[instance]...)
	_, _ = h.Write(of) // never fails
	return measure.Key{Database: container, Entry: [2]uint64{id, h.Sum64()}}
}

// statement is the statement of an entry: the signature without literals, or the SQL_ID if it
// has none, and the plan. The last bit says which.
func statement(signature, id, plan uint64) measure.Statement {
	if signature != 0 {
		return measure.Statement{signature, plan << 1}
	}
	return measure.Statement{id, plan<<1 | 1}
}

// Name is the signature or the SQL_ID, and the plan's hash.
func (r *reader) Name(s measure.Statement) string {
	if s[1]&1 == 0 {
		return fmt.Sprintf("%d/%d", s[0], s[1]>>1)
	}
	return fmt.Sprintf("%s/%d", sqlID(s[0]), s[1]>>1)
}

// digits are those of a SQL_ID, a number of 64 bits in 13 of them.
const digits = "0123456789abcdfghjkmnpqrstuvwxyz"

// sqlNumber is the number that a SQL_ID writes.
func sqlNumber(id string) (n uint64, err error) {
	if len(id) != 13 {
		return 0, measure.ErrNonsense
	}
	for _, r := range id {
		digit := strings.IndexRune(digits, r)
		if digit < 0 || n>>59 != 0 {
			return 0, measure.ErrNonsense
		}
		n = n<<5 | uint64(digit) //nolint:gosec // G115: 0 to 31
	}
	return n, nil
}

// sqlID writes a number as a SQL_ID.
func sqlID(n uint64) string {
	id := make([]byte, 13)
	for i := range id {
		id[len(id)-1-i] = digits[n&31]
		n >>= 5
	}
	return string(id)
}

// unsigned reads a number that may be NULL, which is 0.
func unsigned(value []byte) (uint64, error) {
	if value == nil {
		return 0, nil
	}
	return strconv.ParseUint(string(value), 10, 64)
}

// readClock reads the server's clock, and how far its local time is ahead, in minutes. When
// the server was started stands in each entry.
func readClock(ctx context.Context, s servers.Session) (c measure.Clocks, ahead int64, err error) {
	row, err := servers.Row(ctx, s, 2, clockQuery)
	if err != nil {
		return measure.Clocks{}, 0, err
	}
	now, err1 := strconv.ParseInt(row[0], 10, 64)
	ahead, err2 := strconv.ParseInt(row[1], 10, 64)
	if errors.Join(err1, err2) != nil || now <= 0 {
		return measure.Clocks{}, 0, measure.ErrNonsense
	}
	return measure.Clocks{Now: now}, ahead, nil
}

// readActiveTime reads how long the sessions of each container have worked; nil: that is
// not granted.
func (r *reader) readActiveTime(ctx context.Context, l *measure.Line) (map[uint32]measure.ActiveTime, error) {
	rows, err := servers.Query(ctx, l, 2, r.in(dbTimeQuery, clusterDBTimeQuery))
	if !r.may("time", r.view("V$CON_SYS_TIME_MODEL"), &err) {
		return nil, err
	}
	begun := r.begun()
	of := make(map[uint32]measure.ActiveTime, len(rows))
	for _, row := range rows {
		container, err1 := strconv.ParseUint(row[0], 10, 32)
		us, err2 := strconv.ParseFloat(row[1], 64)
		if errors.Join(err1, err2) != nil {
			return nil, measure.ErrNonsense
		}
		of[uint32(container)] = measure.ActiveTime{Ms: us / 1000, Reset: begun}
	}
	return of, nil
}

// begun stands for which instances run and since when: another one, another number.
func (r *reader) begun() int64 {
	var sum uint64
	for number, started := range r.running {
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, number, started)
		sum += h.Sum64()
	}
	return int64(sum >> 1) //nolint:gosec // G115: the highest bit is gone
}
