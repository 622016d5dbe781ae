package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/pgstore/placement"
)

// MeasurementsCommand returns the command measurements.
func MeasurementsCommand(cfg *config.Config) *cobra.Command {
	return command.Parent("measurements", "Move measurements to another store: copy, drop", measurementsCopyCommand(cfg), measurementsDropCommand(cfg))
}

// inPostgreSQL is how the command line calls the installation's own database as a home of
// measurements.
const inPostgreSQL = "postgres"

func measurementsCopyCommand(cfg *config.Config) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "copy --to URL",
		Short: "Move measurements of closed hours to ClickHouse, or back to PostgreSQL",
		Long: `Copies the measurements of all completed hours, compares both copies, and records the
new place, while 'serve' runs. If it is interrupted, run it again, and it continues. If
a bucket differs, the command names the first such bucket, switches nothing and ends
with status 1.

--to clickhouse://… moves measurements from PostgreSQL to ClickHouse. --to postgres
moves them from the ClickHouse in MUSTER_MEASUREMENTS_URL back into the installation's
own database.

After a successful copy, restart every 'serve' with MUSTER_MEASUREMENTS_URL, or without
it if you moved back. Until its restart, a process stores new samples but does not show
them. The old copy stays until you run 'muster measurements drop'.`,
		Example: `  muster measurements copy --to clickhouse://muster:secret@ch1:9000,ch2:9000/measurements?cluster=muster
  muster measurements copy --to postgres`,
		Args: cobra.NoArgs,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			target, source, err := homes(cmd.Context(), in, "--to", to)
			if err != nil {
				return err
			}
			p := &copyProgress{to: cmd.ErrOrStderr(), began: time.Now()}
			if err := in.Samples.Move(cmd.Context(), source, target, p.tell); err != nil {
				return err
			}
			return tellMoved(cmd, source, target)
		}),
	}
	cmd.Flags().StringVar(&to, "to", "", "clickhouse://user:password@host:9000[,host…]/database[?cluster=NAME&secure=true], or postgres")
	command.Require(cmd, "to")
	return cmd
}

// homes are the home of measurements that a flag names, and the other one: of the two one is
// the installation's own database.
func homes(ctx context.Context, in *installation.Installation, flag, named string) (is, other placement.Home, err error) {
	here := in.Samples.Here()
	switch {
	case named == inPostgreSQL:
		there, err := setHome(ctx, in)
		return here, there, err
	case strings.HasPrefix(named, "postgres"):
		return here, here, fmt.Errorf("%s: measurements go into the installation's own database and no other: write %q", flag, inPostgreSQL)
	}
	address, err := clickhouse.ParseAddress(named)
	if err == nil {
		err = in.OpenClickHouse(ctx, address)
	}
	if err != nil {
		return here, here, fmt.Errorf("%s: %w", flag, err)
	}
	return placement.Home{Store: in.Clickhouse, Place: address.Place()}, here, nil
}

// setHome is the ClickHouse that the settings name.
func setHome(ctx context.Context, in *installation.Installation) (placement.Home, error) {
	if in.Config.MeasurementsURL == "" {
		return placement.Home{}, errors.New("set MUSTER_MEASUREMENTS_URL to the ClickHouse that the measurements are, or were, in")
	}
	address, err := clickhouse.ParseAddress(in.Config.MeasurementsURL)
	if err != nil {
		return placement.Home{}, fmt.Errorf("--measurements-url: %w", err)
	}
	are, err := in.Samples.Place(ctx)
	switch {
	case err != nil:
		return placement.Home{}, err
	case are != "" && are != address.Place(): // before tables are made where none belong
		return placement.Home{}, fmt.Errorf("--measurements-url: %w", &placement.MovedError{Are: are, Wanted: address.Place()})
	}
	if err := in.OpenClickHouse(ctx, address); err != nil {
		return placement.Home{}, fmt.Errorf("--measurements-url: %w", err)
	}
	return placement.Home{Store: in.Clickhouse, Place: address.Place()}, nil
}

const mega = 1 << 20

// tellMoved says where measurements are now, what to restart and what is left.
func tellMoved(cmd *cobra.Command, source, target placement.Home) error {
	restart, from := "with MUSTER_MEASUREMENTS_URL set to it", inPostgreSQL
	if target.Place == "" {
		restart, from = "without MUSTER_MEASUREMENTS_URL", "URL"
	}
	err := command.Say(cmd, "the measurements are in %s; restart every serve %s\n", placement.PlaceName(target.Place), restart)
	if err != nil {
		return err
	}
	left, err := source.Store.Size(cmd.Context())
	if err != nil {
		return err
	}
	return command.Say(cmd, "%.1f MB are left in %s until 'muster measurements drop --from %s --yes'\n", float64(left)/mega, placement.PlaceName(source.Place), from)
}

func measurementsDropCommand(cfg *config.Config) *cobra.Command {
	var from string
	var yes bool
	cmd := &cobra.Command{
		Use:   "drop --from URL --yes",
		Short: "Drop the old copy after a move of measurements, and free its disk",
		Long: `Drops the old copy that 'muster measurements copy' left: with --from postgres the one
in the installation's own database, with --from clickhouse://… the one in ClickHouse
after you moved back. The command refuses until a 'serve' was started with the new
place. Make sure that no 'serve' from before the copy still runs: it would show gaps.

Without --yes the command shows the amount of data, drops nothing and ends with status 2.`,
		Example: `  muster measurements drop --from postgres --yes`,
		Args:    cobra.NoArgs,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			left := in.Samples.Here()
			if from != inPostgreSQL {
				var err error
				if left, _, err = homes(cmd.Context(), in, "--from", from); err != nil {
					return err
				}
			}
			size, err := left.Store.Size(cmd.Context())
			if err != nil {
				return err
			}
			if !yes {
				if err := command.Say(cmd, "%.1f MB of measurements are left in %s\n", float64(size)/mega, placement.PlaceName(left.Place)); err != nil {
					return err
				}
				return &command.ExitError{Status: command.ExitUsage, Err: errors.New("nothing was dropped; --yes drops it")}
			}
			if err := in.Samples.Drop(cmd.Context(), left); err != nil {
				return err
			}
			return command.Say(cmd, "dropped: nothing is left in %s\n", placement.PlaceName(left.Place))
		}),
	}
	cmd.Flags().StringVar(&from, "from", "", "postgres, or clickhouse://user:password@host:9000[,host…]/database[?cluster=NAME&secure=true]")
	cmd.Flags().BoolVar(&yes, "yes", false, "drop the old copy; without this flag, only show its size")
	command.Require(cmd, "from")
	return cmd
}

// copyProgressEvery is how often a line says how far it is.
const copyProgressEvery = 5 * time.Second

// copyProgress says how far a copy has come.
type copyProgress struct {
	to          io.Writer
	began, last time.Time
	step        placement.Step
	stepBegan   time.Time
}

func (p *copyProgress) tell(m placement.Moving) {
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
	fmt.Fprintf(p.to, "%s %s: %d of %d series, %d rows, %d MB, %.1f MB/s, some %s left (%s so far)\n", m.Step, m.Table, m.Done, m.Of,
		m.Rows, m.Bytes/mega, float64(m.Bytes)/mega/max(took.Seconds(), 1e-3), left, now.Sub(p.began).Round(time.Second))
}
