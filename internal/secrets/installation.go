package secrets

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// Names of what all processes of an installation share.
const (
	SecretKey = "secret key"
	BlobStore = "blob store"
)

// MismatchError says that this process does not share something with those
// that used the database before.
type MismatchError struct {
	Name           string // SecretKey, BlobStore
	Database, Ours string // fingerprints
	Since          time.Time
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("this database belongs to an installation whose %s is %s (since %s), and ours is %s: "+
		"all processes of an installation share one; start with the same, or with another database",
		e.Name, e.Database, e.Since.UTC().Format(time.DateOnly), e.Ours)
}

// CheckFingerprint compares a fingerprint with the one the database holds and
// stores it where there is none. Of two processes that are first at once, one
// stores and the other compares. It returns *MismatchError if they differ.
func CheckFingerprint(ctx context.Context, db sqlx.ExtContext, name, value string) error {
	_, err := db.ExecContext(ctx,
		`INSERT INTO installation (name, fingerprint) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, value)
	if err != nil {
		return fmt.Errorf("store the fingerprint of the %s: %w", name, err)
	}
	var stored struct {
		Fingerprint string    `db:"fingerprint"`
		CreatedAt   time.Time `db:"created_at"`
	}
	err = sqlx.GetContext(ctx, db, &stored, `SELECT fingerprint, created_at FROM installation WHERE name = $1`, name)
	if err != nil {
		return fmt.Errorf("read the fingerprint of the %s: %w", name, err)
	}
	if stored.Fingerprint != value {
		return &MismatchError{Name: name, Database: stored.Fingerprint, Ours: value, Since: stored.CreatedAt}
	}
	return nil
}
