package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"muster/internal/accounts"
	"muster/internal/config"
	"muster/internal/postgres"
	"muster/internal/secrets"
)

// marksEvery is how often serve looks whether programs that make no marks have gone.
const marksEvery = time.Minute

// beginMarks notes up to where the logs have events from before marks. The time is this
// machine's: the database's could be held back by whoever has the database.
func (p *process) beginMarks(ctx context.Context) error {
	var older []string
	begun, err := p.key.BeginMarks(ctx, p.db, p.cfg.DataDir, time.Now(), func(ctx context.Context) (_ bool, err error) {
		older, err = postgres.OlderPrograms(ctx, p.db, secrets.MarksSchema)
		return len(older) > 0, err
	})
	switch {
	case begun.Open:
		p.log.WarnContext(ctx, "programs from before run beside this one, so events without a mark are taken, for a day at most", "from", older)
	case len(older) > 0:
		p.log.WarnContext(ctx, "programs from before run beside this one, and their events have no mark: they are not signed and count as altered until 'muster keys accept-unmarked'", "from", older)
	}
	if begun.Odd != "" {
		p.log.WarnContext(ctx, "the note of where marks begin, beside the secret key, was not this installation's, and is written anew", "wrong", begun.Odd, "until", begun.String())
	}
	if begun.Noted {
		p.log.InfoContext(ctx, "events up to here may be without this installation's mark", "until", begun.String(), "more", begun.Open)
	}
	return err
}

func keysAcceptUnmarkedCommand(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "accept-unmarked",
		Short: "Take every event up to now, with or without this installation's mark",
		Long: `Programs from before marks write reports and assessments without one. Those up to the
first start of a program that makes marks are taken as they are. Later ones are not
signed and count as altered, because anyone with the database can append them.

Use it once after you went back to a version from before marks and upgraded again, or
after the key file's directory and the note in the database were lost. First make sure
that nobody else wrote to the database meanwhile: 'muster events list' shows what was
appended, and what an intruder appended counts from then on as well. Then have what
was refused signed with 'muster dead retry'.`,
		Args: cobra.NoArgs,
		RunE: opened(cfg, func(cmd *cobra.Command, _ []string, in *installation) error {
			accepted, err := in.key.AcceptUnmarked(cmd.Context(), in.db, in.cfg.DataDir, time.Now(), func(b secrets.Begun) error {
				return in.accounts.RecordSystem(cmd.Context(), accounts.UnmarkedAccepted, "up to "+b.String())
			})
			if err != nil {
				return err
			}
			return say(cmd, "events up to %s are taken without a mark\n", accepted)
		}),
	}
}
