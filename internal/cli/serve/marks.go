package serve

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
	begun, err := p.Key.BeginMarks(ctx, p.DB, p.Config.DataDir, time.Now(), func(ctx context.Context) (_ bool, err error) {
		older, err = postgres.OlderPrograms(ctx, p.DB, secrets.MarksSchema)
		return len(older) > 0, err
	})
	switch {
	case begun.Open:
		p.Log.WarnContext(ctx, "processes of an earlier version still run, so events without a mark are accepted, for a day at most", "from", older)
	case len(older) > 0:
		p.Log.WarnContext(ctx, "processes of an earlier version still run, and their events have no mark: these are not signed and count as altered until 'muster keys accept-unmarked'", "from", older)
	}
	if begun.Odd != "" {
		p.Log.WarnContext(ctx, "the file beside the secret key that says where marks begin did not belong to this installation, and was written again", "wrong", begun.Odd, "until", begun.String())
	}
	if begun.Noted {
		p.Log.InfoContext(ctx, "events up to here may be without this installation's mark", "until", begun.String(), "more", begun.Open)
	}
	return err
}
