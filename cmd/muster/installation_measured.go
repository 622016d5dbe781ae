package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/pgstore"
	"muster/internal/postgres"
)

// ledgerConnections are those that ClickHouse's revisions and migrations take. They are
// of their own: who waits for one holds a connection of the common pool.
const ledgerConnections = 2

// openMeasurements opens what is measured. Without a server that answers where the hours
// are that are over, no process starts: it could show nothing but the last hour.
func (in *installation) openMeasurements(ctx context.Context, a access) error {
	in.samples = pgstore.New(in.db, in.log)
	if !a.measured {
		return nil
	}
	if in.cfg.MeasurementsURL == "" {
		return in.settle(ctx, "")
	}
	address, err := clickhouse.ParseAddress(in.cfg.MeasurementsURL)
	if err != nil {
		return fmt.Errorf("--measurements-url: %w", err)
	}
	if err := in.settle(ctx, address.Place()); err != nil { // before tables are made where none belong
		return err
	}
	if err := in.openClickHouse(ctx, address); err != nil {
		return fmt.Errorf("--measurements-url: %w", err)
	}
	in.samples = pgstore.NewOn(in.db, in.clickhouse, in.log)
	return in.settle(ctx, address.Place())
}

// openClickHouse opens it, with connections to the database of its own.
func (in *installation) openClickHouse(ctx context.Context, address clickhouse.Address) error {
	var ledger *sqlx.DB
	var err error
	if ledger, in.ledger, err = postgres.Connect(ctx, in.url, postgres.PoolOptions{Name: "blocks", Max: ledgerConnections}); err != nil {
		return err
	}
	in.clickhouse, err = clickhouse.Open(ctx, address, ledger, in.log, clickhouse.Limits{})
	return err
}

// settle holds the installation to where its measurements are.
func (in *installation) settle(ctx context.Context, place string) error {
	err := in.samples.Inhabit(ctx, place)
	var moved *pgstore.MovedError
	switch {
	case !errors.As(err, &moved):
		return err
	case moved.Are == "":
		return fmt.Errorf("--measurements-url: %w: start without MUSTER_MEASUREMENTS_URL, or move them with 'muster measurements copy --to URL' first", err)
	default:
		return fmt.Errorf("--measurements-url: %w: set MUSTER_MEASUREMENTS_URL to that place (cluster/database)", err)
	}
}
