package main

import (
	"context"
	"time"

	"muster/internal/postgres"
	"muster/internal/secrets"
)

// marksEvery is how often serve looks whether programs that make no marks have gone.
const marksEvery = time.Minute

// beginMarks notes up to where the logs have events from before marks. The time is this
// machine's: the database's could be held back by whoever has the database.
func (p *process) beginMarks(ctx context.Context) error {
	var older []string
	begun, err := p.key.BeginMarks(ctx, p.db, time.Now(), func(ctx context.Context) (_ bool, err error) {
		older, err = postgres.OlderPrograms(ctx, p.db, secrets.MarksSchema)
		return len(older) > 0, err
	})
	if begun.Open {
		p.log.WarnContext(ctx, "programs from before run beside this one, so events without a mark are taken, for a day at most", "from", older)
	}
	if begun.Noted {
		p.log.InfoContext(ctx, "events up to here may be without this installation's mark", "until", begun.String(), "more", begun.Open)
	}
	return err
}
