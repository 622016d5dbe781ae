package clickhouse

import (
	_ "embed" // how the tables are made
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
)

var (
	//go:embed sql/blocks.sql
	makeBlocks string
	//go:embed sql/migrations.sql
	makeMigrations string
)

// form is how the blocks of a table are kept.
type form int

const (
	bodies  form = iota // as they are
	samples             // of statements, by columns: each delta
	details             // of statements, by columns: the sums of an hour or a day
)

// table is where blocks of one sort are kept on each server.
type table struct {
	name        string // without "_local"
	of          blocks.Table
	form        form
	partition   period
	granularity int    // rows that are read at least: few of long ones
	kind        string // of the series whose blocks are in it alone (blocks.Apart); empty: of those that are in no other
}

// period is how much time a partition has, which Forget drops at once.
type period int

const (
	byDay period = iota
	byWeek
	byMonth
	undivided // never dropped
)

// expression makes a partition's name of a block's start.
func (p period) expression() string {
	return [...]string{"toYYYYMMDD(start)", "toMonday(start)", "toYYYYMM(start)", "tuple()"}[p]
}

// of is the partition of a time, as expression has it and system.parts shows it.
func (p period) of(at time.Time) string {
	at = at.UTC()
	switch p {
	case byDay:
		return at.Format("20060102")
	case byWeek:
		return at.AddDate(0, 0, -int((at.Weekday()+6)%7)).Format(time.DateOnly)
	case byMonth:
		return at.Format("200601")
	}
	return ""
}

// tables are all of them. Statements are by columns where single ones are in them: only
// so can a server add them up by itself. Bodies of the other kinds are packed already, or
// rows that tiles are made of here, slot by slot: columns of them gained nothing. Kinds that are
// forgotten before others have tables of their own, because only whole partitions are dropped.
var tables = []*table{
	{"raw", blocks.Raw, bodies, byDay, 16, ""},
	{"minutes", blocks.Minutes, bodies, byWeek, 24, ""},
	{"hours", blocks.Hours, bodies, byMonth, 16, ""},
	{"days", blocks.Days, bodies, undivided, 16, ""},
	{"hour_details", blocks.HourDetails, bodies, byMonth, 24, ""},
	{"day_details", blocks.DayDetails, bodies, byMonth, 24, ""},
	{"closed_hour_details", blocks.ClosedHourDetails, bodies, byMonth, 24, ""},
	{"closed_day_details", blocks.ClosedDayDetails, bodies, byMonth, 24, ""},
	{"statement_samples", blocks.Raw, samples, byDay, 4, ""},
	{"statement_hours", blocks.HourDetails, details, byMonth, 8, ""},
	{"statement_days", blocks.DayDetails, details, byMonth, 8, ""},
	{"closed_statement_hours", blocks.ClosedHourDetails, details, byMonth, 8, ""},
	{"closed_statement_days", blocks.ClosedDayDetails, details, byMonth, 8, ""},
	{"activity_minutes", blocks.Minutes, bodies, byDay, 24, codec.Activity},
	{"activity_hours", blocks.Hours, bodies, byWeek, 16, codec.Activity},
	{"activity_days", blocks.Days, bodies, byMonth, 16, codec.Activity},
}

// tableOf is the place of a series' blocks: for statements of an instance, the table with
// columns if there is one.
func tableOf(of blocks.Table, kind, subject string) (*table, error) {
	apart := ""
	if blocks.Apart(of, kind) {
		apart = kind
	}
	wanted := func(statements bool) int {
		return slices.IndexFunc(tables, func(t *table) bool { return t.of == of && t.kind == apart && (t.form != bodies) == statements })
	}
	if kind == codec.Statements {
		if id, err := uuid.Parse(subject); err == nil && id.String() == subject {
			if i := wanted(true); i >= 0 {
				return tables[i], nil
			}
		}
	}
	if i := wanted(false); i >= 0 {
		return tables[i], nil
	}
	return nil, fmt.Errorf("there is no table %q of blocks", of)
}

// local is what the table is called on each server, and whole what all of a cluster are.
func (t *table) local(database string) string { return database + "." + t.name + "_local" }

func (t *table) whole(database string) string { return database + "." + t.name }

// create is the statement that makes it.
func (t *table) create(database, engine, settings string) string {
	columns := make([]string, 0, 16)
	for _, c := range t.columns() {
		columns = append(columns, c.name+" "+c.kind)
	}
	return strings.NewReplacer("{{table}}", t.local(database), "{{columns}}", strings.Join(columns, ", "), "{{engine}}", engine,
		"{{partition}}", t.partition.expression(), "{{sorting}}", t.sorting(), "{{granularity}}", fmt.Sprint(t.granularity),
		"{{settings}}", settings).Replace(makeBlocks)
}

// column is what a table must have.
type column struct{ name, kind string }

// columns are all of a table. Of the rows of a block the one with the greatest revision
// counts. Place is which shard it is on, modulo their weights; where present is 0, the
// block was taken away.
func (t *table) columns() []column {
	ids := []column{{"organization", "UUID"}, {"kind", "String"}, {"subject", "String"}}
	if t.form != bodies { // of statements, the subject is the instance
		ids = []column{{"organization", "UUID"}, {"subject", "UUID"}}
	}
	all := []column{{"engine", "String"}, {"start", "DateTime('UTC')"}, {"revision", "UInt64"}, {"place", "UInt64"}, {"present", "UInt8"}}
	return slices.Concat(ids, all, contents[t.form])
}

// contents are the columns of what blocks of a form hold.
var contents = [...][]column{
	bodies: {{"body", "String"}},
	samples: {
		{"times", "Array(UInt32)"},      // of the samples, microseconds since start
		{"sampled_at", "Array(UInt32)"}, // which database was sampled when
		{"sampled", "Array(UUID)"},
		{"database", "Array(UUID)"}, // of each statement of each sample, from here on
		{"hash", "Array(UInt64)"},
		{"at", "Array(UInt32)"},
		{"calls", "Array(UInt16)"},
		{"calls_high", "Array(UInt64)"}, // 65536 of it each (lowCalls)
		{"total", "Array(Float64)"},     // ms
		{"most", "Array(Float64)"},      // ms; -inf: its sample has none
	},
	details: {
		{"sampled", "Array(UUID)"},  // databases
		{"database", "Array(UUID)"}, // of each statement, from here on
		{"hash", "Array(UInt64)"},
		{"calls", "Array(UInt16)"},
		{"calls_high", "Array(UInt64)"},
		{"total", "Array(Float64)"}, // ms
		{"most", "Array(Float64)"},  // ms; -inf: its samples have none
		{"samples", "Array(UInt32)"},
	},
}

// content are the names of the columns of what the table's blocks hold, in its order.
func (t *table) content() (names []string) {
	for _, c := range contents[t.form] {
		names = append(names, c.name)
	}
	return names
}

// sorting is what a row is known by, but for its revision.
func (t *table) sorting() string {
	if t.form == bodies {
		return "organization, kind, subject, start"
	}
	return "organization, subject, start"
}
