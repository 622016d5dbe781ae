package receivers_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/intake"
	"muster/internal/intake/receivers"
)

var receipt = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// of are attributes by name and value in turn.
func of(pairs ...string) *receivers.Attributes {
	a := &receivers.Attributes{}
	for i := 0; i < len(pairs); i += 2 {
		a.Set([]byte(pairs[i]), []byte(pairs[i+1]))
	}
	return a
}

// TestUnusableEventsAreDropped by their reason, and the rest is taken.
func TestUnusableEventsAreDropped(t *testing.T) {
	t.Parallel()
	const top, sample = "db.server.top_query", "db.server.query_sample"
	ran := func(calls, seconds string) *receivers.Attributes {
		return of("sqlserver.query_hash", "q", "sqlserver.execution_count", calls, "sqlserver.total_elapsed_time", seconds)
	}
	waits := func(wait string) *receivers.Attributes {
		return of("sqlserver.session_id", "1", "sqlserver.wait_type", wait)
	}
	for name, c := range map[string]struct {
		event string
		a     *receivers.Attributes
		at    time.Time
		want  intake.Reason // empty: it is taken
	}{
		"a statement":                {top, ran("1", "0.25"), receipt, ""},
		"its name among attributes":  {"", of("event.name", sample, "sqlserver.session_id", "1"), receipt, ""},
		"another event":              {"db.server.session.wait_sample", of("oracledb.sid", "1"), receipt, intake.NotUsed},
		"no event":                   {"", of("sqlserver.session_id", "1"), receipt, intake.NotUsed},
		"another receiver":           {sample, of("mysql.session.id", "1"), receipt, intake.NotUsed},
		"PostgreSQL's statements":    {top, of("postgresql.queryid", "1", "postgresql.calls", "1", "postgresql.total_exec_time", "1"), receipt, intake.Unsupported},
		"no executions":              {top, ran("0", "0.25"), receipt, intake.Incomplete},
		"executions that are absent": {top, ran("", "0.25"), receipt, intake.Incomplete},
		"no time":                    {top, ran("1", ""), receipt, intake.Incomplete},
		"a part of an execution":     {top, ran("1.5", "1"), receipt, intake.OutOfRange},
		"fewer than before":          {top, ran("-1", "1"), receipt, intake.OutOfRange},
		"less time than before":      {top, ran("1", "-1"), receipt, intake.OutOfRange},
		"not a number":               {top, ran("1", "NaN"), receipt, intake.OutOfRange},
		"infinite":                   {top, ran("1", "Inf"), receipt, intake.OutOfRange},
		"no key":                     {top, of("sqlserver.execution_count", "1", "sqlserver.total_elapsed_time", "1"), receipt, intake.Malformed},
		"a long key":                 {top, of("oracledb.sql_id", strings.Repeat("x", 201), "oracledb.executions", "1", "oracledb.elapsed_time", "1"), receipt, intake.Malformed},
		"a wait that is no text":     {sample, waits("\xff"), receipt, intake.Malformed},
		"NUL":                        {sample, waits("a\x00"), receipt, intake.Malformed},
		"a long name":                {sample, of("muster_instance", strings.Repeat("x", 256), "sqlserver.session_id", "1"), receipt, intake.TooLong},
		"no time at all":             {sample, waits("LCK_M_X"), time.Time{}, intake.InvalidTime},
		"in the future":              {sample, waits("LCK_M_X"), receipt.Add(5*time.Minute + 1), intake.TimeInFuture},
		"an idle session":            {sample, of("postgresql.state", "idle", "postgresql.wait_event_type", "Client"), receipt, intake.NotUsed},
		"a background process":       {sample, of("oracledb.sid", "1", "oracledb.wait_class", "System I/O"), receipt, intake.NotUsed},
	} {
		m := receivers.New(receipt)
		m.Event([]byte(c.event), c.a, c.at)
		m.Event([]byte(top), ran("2", "1"), receipt.Add(-time.Minute))
		want := map[intake.Reason]int{c.want: 1}
		if c.want == "" {
			want = map[intake.Reason]int{}
		}
		if diff := cmp.Diff(want, m.Dropped); diff != "" || m.Received != 2 {
			t.Errorf("%s: of %d (-want +got):\n%s", name, m.Received, diff)
		}
	}
}

// TestGaugesThatCannotBeUsed, likewise.
func TestGaugesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value float64
		a     *receivers.Attributes
		want  intake.Reason
	}{
		"not a number": {math.NaN(), of(), intake.NotANumber}, "infinite": {math.Inf(1), of(), intake.NotANumber},
		"negative": {-1, of(), intake.OutOfRange}, "half of one": {0.5, of(), intake.OutOfRange}, "without end": {1e300, of(), intake.OutOfRange},
		"a process of the server's own": {1, of("session_type", "BACKGROUND"), intake.NotUsed},
	} {
		m := receivers.New(receipt)
		m.Count(receivers.Sessions, c.a, receipt, c.value)
		if m.Dropped[c.want] != 1 || m.Received != 1 || len(m.Looks()) != 0 {
			t.Errorf("%s: %+v", name, m.Receipt)
		}
	}
}

// TestAMessageWithoutEnd makes no more than it may.
func TestAMessageWithoutEnd(t *testing.T) {
	t.Parallel()
	m := receivers.New(receipt)
	for i := range 1000 {
		m.Event([]byte("db.server.query_sample"), of("sqlserver.wait_type", fmt.Sprint("W", i)), receipt)
	}
	if n := len(m.Looks()[0].Waits); n != 300 || m.Dropped[intake.TooMany] != 700 {
		t.Errorf("%d waits, %+v", n, m.Receipt)
	}
	m = receivers.New(receipt)
	a := of("sqlserver.session_id", "1")
	for i := range receivers.MaxLooks + 10 {
		m.Event([]byte("db.server.query_sample"), a, receipt.Add(-time.Duration(i)*time.Microsecond))
	}
	if len(m.Looks()) != receivers.MaxLooks || m.Dropped[intake.TooMany] != 10 {
		t.Errorf("%d looks, %+v", len(m.Looks()), m.Receipt)
	}
	for i := range receivers.MaxRecords - receivers.MaxLooks + 10 {
		m.Event([]byte("db.server.query_sample"), a, receipt.Add(-time.Duration(i%1000)*time.Microsecond))
	}
	if m.Dropped[intake.TooMany] != 20 {
		t.Errorf("%+v", m.Receipt)
	}
}
