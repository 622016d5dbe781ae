package measurementstest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// contributorCase is samples, and who is behind a figure of them.
type contributorCase struct {
	name   string
	given  []measurements.Batch // message by message
	span   measurements.Span
	of     measurements.Breakdown
	items  []measurements.Contributor
	others measurements.Others
	total  float64
}

func (c contributorCase) story() story {
	return story{c.name, func(t *testing.T, h Harness) {
		for _, organization := range h.arrive(t, c.given) {
			tiles := measurements.Tiles{Store: h.Store}
			var got measurements.Contributors
			var err error
			switch c.of.Series {
			case measurements.CPU, measurements.Memory, measurements.Disk:
				got, err = tiles.UtilizationContributors(t.Context(), organization, measurements.HostScope{}, c.span, c.of)
			case measurements.Average, measurements.Maximum:
				got, err = tiles.QueryContributors(t.Context(), organization, everything, c.span, c.of, later)
			default:
				got, err = tiles.WaitContributors(t.Context(), organization, everything, c.span, c.of)
			}
			near := cmpopts.EquateApprox(1e-9, 0)
			if diff := cmp.Diff(c.items, got.Items, near, cmpopts.EquateEmpty()); err != nil || diff != "" || !cmp.Equal(c.others, got.Others, near) || !close(c.total, got.Total()) {
				t.Errorf("others %+v, want %+v; total %v, want %v; %v\n%s", got.Others, c.others, got.Total(), c.total, err, diff)
			}
		}
	}}
}

// during is a span between two times, of minutes.
func during(from, to string) measurements.Span {
	return measurements.Span{From: at(from), To: at(to), Size: timegrid.Minute}
}

func by(series measurements.Series, key measurements.Key, limit int) measurements.Breakdown {
	return measurements.Breakdown{Series: series, By: key, Limit: limit}
}

func contributorCases() []contributorCase {
	statement := func(database uuid.UUID, key string, calls, totalMs float64) measurements.Contributor {
		instance, _ := home(database)
		id := measurements.StatementID(instance, measurements.HashStatement(database, key))
		return measurements.Contributor{Instance: instance, Database: database, Statement: id, Value: totalMs / calls, Calls: calls, TotalMs: totalMs}
	}
	percent := func(v float64) *float64 { return &v }
	return []contributorCase{
		{
			name: "minutes and hours make one span, and what lies beside it is not in it",
			given: []measurements.Batch{{Statements: []measurements.StatementSample{
				ran(shop, "09:57", q("a", 1000, 1000)), ran(shop, "09:58", q("a", 1, 10)), ran(shop, "10:30", q("a", 2, 20)), ran(shop, "11:59:59", q("b", 1, 5)),
				ran(shop, "12:01", q("a", 1, 70)), ran(stock, "12:01:59", q("a", 4, 4)), ran(shop, "12:02", q("b", 1000, 1000)),
			}}},
			span:   during("09:58", "12:02"),
			of:     by(measurements.Average, measurements.ByStatement, 1),
			items:  []measurements.Contributor{statement(shop, "a", 4, 100)},
			others: measurements.Others{Count: 2, Sum: 5 + 1, Calls: 5, TotalMs: 9},
			total:  109.0 / 9,
		},
		{
			name:  "an Oracle statement that two hours have once each is in both of them",
			given: []measurements.Batch{{Statements: []measurements.StatementSample{ran(books, "10:10", q("a", 1, 10)), ran(books, "11:10", q("a", 3, 2)), ran(books, "11:20", q("b", 9, 900))}}},
			span:  during("10:00", "12:00"),
			of:    by(measurements.Average, measurements.ByInstance, 5),
			items: []measurements.Contributor{{Instance: ledger, Value: 3, Calls: 4, TotalMs: 12}},
			total: 3,
		},
		{
			name: "a maximum is the highest mean over the span, not of a part of it",
			given: []measurements.Batch{{Statements: []measurements.StatementSample{
				ran(shop, "10:00", q("a", 1, 100)), ran(shop, "11:00", q("a", 99, 100)), ran(contacts, "11:00", q("a", 1, 50)),
			}}},
			span:  during("10:00", "12:00"),
			of:    by(measurements.Maximum, measurements.ByInstance, 1),
			items: []measurements.Contributor{{Instance: crm, Value: 50}}, others: measurements.Others{Count: 1, Sum: 2}, total: 50,
		},
		{
			name: "a database's waits are by its own samples in which somebody waits",
			given: []measurements.Batch{{Sessions: []measurements.SessionSample{
				waiting(shop, "10:00", waits{"Lock": 3}), waiting(shop, "10:01", waits{"Lock": 1, "IO": 4}), waiting(shop, "10:02", nil), waiting(stock, "10:00", waits{"Lock": 7}),
			}}},
			span: during("10:00", "10:03"), of: by("locks", measurements.ByDatabase, 5),
			items: []measurements.Contributor{{Instance: orders, Database: stock, Value: 7}, {Instance: orders, Database: shop, Value: 2}}, total: 9,
		},
		{
			name: "what is known of a volume at a time stays, however another message tells it",
			given: []measurements.Batch{
				{Hosts: []measurements.HostSample{{Host: "db01", At: at("10:00"), Volumes: []measurements.Volume{{Mount: "/", Size: 100, Free: 40, Available: 40}, {Mount: "/boot", UsedPercent: percent(99)}}}}},
				{Hosts: []measurements.HostSample{{Host: "db01", At: at("10:00"), Volumes: []measurements.Volume{{Mount: "/", UsedPercent: percent(10)}}}}},
			},
			span: during("10:00", "11:00"), of: by(measurements.Disk, measurements.ByVolume, 5),
			items: []measurements.Contributor{{Host: "db01", Mount: "/", Value: 60}}, total: 60,
		},
	}
}
