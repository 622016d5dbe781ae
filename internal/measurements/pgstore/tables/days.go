package tables

import (
	"context"
	_ "embed" // the statement
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

//go:embed sql/raw_days.sql
var rawDays string

// rawDay is a table of blocks of raw samples: of a day, or of all days before there were such.
type rawDay struct {
	Name         string // with its schema, as statements have it
	Since, Until time.Time
}

// missingDays are the days of blocks of raw samples for which there is no table.
func missingDays(ctx context.Context, tx *sqlx.Tx, of []Stored) (missing []time.Time, err error) {
	there, err := statement.All[rawDay](ctx, tx, "look which days have tables", rawDays)
	for _, one := range of {
		day := timegrid.Day.Floor(one.Start)
		covers := func(d rawDay) bool { return !one.Start.Before(d.Since) && one.Start.Before(d.Until) }
		if !slices.ContainsFunc(missing, day.Equal) && !slices.ContainsFunc(there, covers) {
			missing = append(missing, day)
		}
	}
	return missing, err
}

// makeDays makes sure that there are tables for the blocks of raw samples that tx puts.
//
// They are created in a transaction of their own, so that no Put waits for them. ATTACH lets
// others read and write meanwhile, a backup too; CREATE TABLE … PARTITION OF would not.
func (t Blocks) makeDays(ctx context.Context, tx *sqlx.Tx, of []Stored) error {
	if missing, err := missingDays(ctx, tx, of); err != nil || len(missing) == 0 {
		return err
	}
	return transact.Once(ctx, t.DB, nil, func(tx *sqlx.Tx) error {
		if err := statement.Exec(ctx, tx, "wait no longer", dropPatience); err != nil {
			return err
		}
		if err := statement.Exec(ctx, tx, "wait for who makes days", `SELECT pg_advisory_xact_lock(hashtextextended('block_raw', 0))`); err != nil {
			return err
		}
		missing, err := missingDays(ctx, tx, of)
		if err != nil {
			return err
		}
		schema, err := statement.One[string](ctx, tx, "look where the table is", `SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'block_raw'::regclass`)
		for _, day := range missing {
			if err == nil {
				err = makeDay(ctx, tx, schema, day)
			}
		}
		return err
	})
}

func makeDay(ctx context.Context, tx *sqlx.Tx, schema string, day time.Time) error {
	const bound = "2006-01-02 15:04:05-07"
	name := schema + day.Format(".block_raw_20060102")
	if err := statement.Exec(ctx, tx, "make the table "+name, `CREATE TABLE `+name+` (LIKE block_raw INCLUDING ALL)`); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "attach "+name, fmt.Sprintf(`ALTER TABLE block_raw ATTACH PARTITION %s FOR VALUES FROM ('%s') TO ('%s')`,
		name, day.Format(bound), day.Add(timegrid.Day.Width()).Format(bound)))
}

// dropDays drops the days that end before a time, or at it. A day that is being read, as by a
// backup for hours, is left to the next round, because later readers would wait behind us.
func (t Blocks) dropDays(ctx context.Context, before time.Time) error {
	days, err := statement.All[rawDay](ctx, t.DB, "look which days have tables", rawDays)
	if err != nil {
		return err
	}
	for _, day := range days {
		if day.Until.After(before) {
			break
		}
		err := transact.Once(ctx, t.DB, nil, func(tx *sqlx.Tx) error {
			if err := statement.Exec(ctx, tx, "limit how long to wait", shortPatience); err != nil {
				return err
			}
			return statement.Exec(ctx, tx, "drop "+day.Name, `DROP TABLE IF EXISTS `+day.Name)
		})
		if IsHeld(err) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shortPatience is how long who gives disk back waits for those who read.
const shortPatience = `SET LOCAL lock_timeout = '100ms'`

// IsHeld says that another session did not release a table, or a row, in time.
func IsHeld(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "55P03" // lock_not_available
}
