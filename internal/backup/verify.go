package backup

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"muster/eventstore"
	"muster/internal/blobs"
)

// Verified is what a restored installation was found to be.
type Verified struct {
	Logs     []eventstore.Verification
	Reports  int // whose files were held against the log
	Files    int
	Absent   []Absent // left out of the backup, so not looked for
	Findings []string // what of the files does not fit
}

// misfits counts what does not fit, in logs and files.
func (v *Verified) misfits() int {
	n := len(v.Findings)
	for _, log := range v.Logs {
		n += log.Misfits
	}
	return n
}

// VerificationError says that what was restored does not fit. The installation
// stays marked as unfinished.
type VerificationError struct{ Misfits int }

func (e *VerificationError) Error() string {
	return fmt.Sprintf("%d things do not fit in what was restored, so it is not to be used yet. They were so when the backup was made: "+
		"restore an older one, or run this again with --accept-findings", e.Misfits)
}

// verify holds the logs against the heads that were signed when the backup was
// made, and every file that they name against its digest.
func (t *RestoreTarget) verify(ctx context.Context, b *Backup) (Verified, error) {
	v := Verified{Absent: b.Absent}
	for _, signed := range b.Heads {
		witness := signed.Head
		report, err := t.Events.Verify(ctx, witness.Log, eventstore.VerifyOptions{
			Witness: &witness,
			Progress: func(position, last int64) {
				t.Progress(fmt.Sprintf("verifying log %s, %d of %d", witness.Log, position, last))
			},
		})
		if err != nil {
			return v, err
		}
		v.Logs = append(v.Logs, report)
	}
	return v, t.verifyFiles(ctx, b, &v)
}

func (t *RestoreTarget) verifyFiles(ctx context.Context, b *Backup, v *Verified) error {
	files, unread, err := keptFiles(ctx, t.Events, t.Registry, b.head(eventstore.Reports).Position)
	if err != nil {
		return err
	}
	left := make(map[string]bool, len(b.Absent))
	for _, a := range b.Absent {
		left[a.Name] = true
	}
	for _, u := range unread {
		if !left[u.Name] {
			v.Findings = append(v.Findings, u.Name+" cannot be told: this program cannot decode the event")
		}
	}
	reports := make(map[uuid.UUID]bool)
	for i, file := range files {
		if left[file.name] {
			continue
		}
		t.Progress(fmt.Sprintf("verifying file %d of %d", i+1, len(files)))
		ok, err := file.matches(ctx, t.Blobs)
		var none *blobs.MissingFileError
		switch {
		case errors.As(err, &none):
			v.Findings = append(v.Findings, "file "+file.name+" is missing")
		case err != nil:
			return err
		case !ok:
			v.Findings = append(v.Findings, "file "+file.name+" is not what the log says")
		}
		reports[file.report] = true
		v.Files++
	}
	v.Reports = len(reports)
	return nil
}
