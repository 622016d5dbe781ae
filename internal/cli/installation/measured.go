package installation

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/pgstore"
	"muster/internal/measurements/pgstore/placement"
	"muster/internal/postgres"
)

// LedgerConnections are those that ClickHouse's revisions and migrations take. They are
// of their own: who waits for one holds a connection of the common pool.
const LedgerConnections = 2

// openMeasurements opens what is measured. Without a server that answers where the hours
// are that are over, no process starts: it could show nothing but the last hour.
func (in *Installation) openMeasurements(ctx context.Context, a Access) error {
	in.Samples = pgstore.New(in.DB, in.Log)
	if !a.Measured {
		return nil
	}
	if in.Config.MeasurementsURL == "" {
		return in.settle(ctx, "")
	}
	address, err := clickhouse.ParseAddress(in.Config.MeasurementsURL)
	if err != nil {
		return fmt.Errorf("--measurements-url: %w", err)
	}
	if err := in.settle(ctx, address.Place()); err != nil { // before tables are made where none belong
		return err
	}
	if err := in.OpenClickHouse(ctx, address); err != nil {
		return fmt.Errorf("--measurements-url: %w", err)
	}
	in.Samples = pgstore.NewOn(in.DB, in.Clickhouse, in.Log)
	return in.settle(ctx, address.Place())
}

// OpenClickHouse opens it, with connections to the database of its own.
func (in *Installation) OpenClickHouse(ctx context.Context, address clickhouse.Address) error {
	var ledger *sqlx.DB
	var err error
	if ledger, in.Ledger, err = postgres.Connect(ctx, in.URL, postgres.PoolOptions{Name: "blocks", Max: LedgerConnections}); err != nil {
		return err
	}
	in.Clickhouse, err = clickhouse.Open(ctx, address, ledger, in.Log, clickhouse.Limits{})
	return err
}

// settle holds the installation to where its measurements are.
func (in *Installation) settle(ctx context.Context, place string) error {
	err := in.Samples.Inhabit(ctx, place)
	var moved *placement.MovedError
	switch {
	case !errors.As(err, &moved):
		return err
	case moved.Are == "":
		return fmt.Errorf("--measurements-url: %w: start without MUSTER_MEASUREMENTS_URL, or move them with 'muster measurements copy --to URL' first", err)
	default:
		return fmt.Errorf("--measurements-url: %w: set MUSTER_MEASUREMENTS_URL to that place (cluster/database)", err)
	}
}
