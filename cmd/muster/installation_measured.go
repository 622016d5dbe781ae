package main

import (
	"context"
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
	if in.cfg.MeasurementsURL == "" || !a.measured {
		in.samples = pgstore.New(in.db, in.log)
		return nil
	}
	address, err := clickhouse.ParseAddress(in.cfg.MeasurementsURL)
	if err != nil {
		return fmt.Errorf("--measurements-url: %w", err)
	}
	var ledger *sqlx.DB
	if ledger, in.ledger, err = postgres.Connect(ctx, in.url, postgres.PoolOptions{Name: "blocks", Max: ledgerConnections}); err != nil {
		return err
	}
	if in.clickhouse, err = clickhouse.Open(ctx, address, ledger, in.log, clickhouse.Limits{}); err != nil {
		return fmt.Errorf("--measurements-url: %w", err)
	}
	in.samples = pgstore.NewOn(in.db, in.clickhouse, in.log)
	return nil
}
