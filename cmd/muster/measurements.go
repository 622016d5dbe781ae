package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"muster/internal/config"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/pgstore"
)

func measurementsCommand(cfg *config.Config) *cobra.Command {
	return parent("measurements", "What is measured, and where it is kept", measurementsCopyCommand(cfg))
}

func measurementsCopyCommand(cfg *config.Config) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "copy --to URL",
		Short: "Move measurements that are over from PostgreSQL to ClickHouse",
		Long: `Copies all measurements whose hour is over to ClickHouse, compares both, and notes that
they are there, while 'serve' runs. Broken off, it goes on when it is called again. Where a
bucket is not the same, it names the first one, switches nothing and ends with status 1.

When it has ended well, restart every 'serve' with MUSTER_MEASUREMENTS_URL: until then those
keep what they are sent, and show nothing new. What was copied stays in PostgreSQL.`,
		Example: `  muster measurements copy --to clickhouse://muster:secret@ch1:9000,ch2:9000/measurements?cluster=muster`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withInstallation(cmd.Context(), cfg, func(in *installation) error {
				address, err := clickhouse.ParseAddress(to)
				if err != nil {
					return fmt.Errorf("--to: %w", err)
				}
				if err := in.openClickHouse(cmd.Context(), address); err != nil {
					return fmt.Errorf("--to: %w", err)
				}
				p := &copyProgress{to: cmd.ErrOrStderr(), began: time.Now()}
				if err := in.samples.Move(cmd.Context(), in.clickhouse, address.Place(), p.tell); err != nil {
					return err
				}
				return say(cmd, "the measurements are in ClickHouse, %s; restart every serve with MUSTER_MEASUREMENTS_URL set to it\n", address.Place())
			})
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "clickhouse://user:password@host:9000[,host…]/database[?cluster=NAME&secure=true]")
	require(cmd, "to")
	return cmd
}

// copyProgressEvery is how often a line says how far it is.
const copyProgressEvery = 5 * time.Second

// copyProgress says how far a copy has come.
type copyProgress struct {
	to          io.Writer
	began, last time.Time
	step        pgstore.Step
	stepBegan   time.Time
}

func (p *copyProgress) tell(m pgstore.Moving) {
	now := time.Now()
	if m.Step != p.step {
		p.step, p.stepBegan, p.last = m.Step, now, time.Time{}
	}
	if now.Sub(p.last) < copyProgressEvery {
		return
	}
	p.last = now
	took := now.Sub(p.stepBegan)
	tables := blocks.Tables()
	done := (float64(slices.Index(tables, m.Table)) + float64(m.Done)/float64(max(1, m.Of))) / float64(len(tables))
	left := time.Duration(float64(took) * (1 - done) / done).Round(time.Second)
	const mega = 1 << 20
	fmt.Fprintf(p.to, "%s %s: %d of %d series, %d rows, %d MB, %.1f MB/s, some %s left (%s so far)\n", m.Step, m.Table, m.Done, m.Of,
		m.Rows, m.Bytes/mega, float64(m.Bytes)/mega/max(took.Seconds(), 1e-3), left, now.Sub(p.began).Round(time.Second))
}
