package secrets

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"muster/internal/postgres/statement"

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
		"all processes of an installation share one; start with the same (%s), or with another database (--database-url)",
		e.Name, e.Database, e.Since.UTC().Format(time.DateOnly), e.Ours, settingOf[e.Name])
}

// settingOf is where an operator says what all processes share.
var settingOf = map[string]string{SecretKey: "--secret-key-file", BlobStore: "--blob-url"}

// MissingError says that there is no key file, although the database has a key.
type MissingError struct {
	Path     string
	Database string // fingerprint
	Since    time.Time
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("there is no secret key at %s (--secret-key-file), and this database belongs to an installation whose secret key is %s (since %s): "+
		"all processes of an installation share one; start with the same, or with another database (--database-url)",
		e.Path, e.Database, e.Since.UTC().Format(time.DateOnly))
}

// RotatedError says that this process has only keys that were replaced since.
type RotatedError struct {
	Path     string // of our key file
	Ours     string // fingerprints
	Current  string // the database's
	Replaced time.Time
}

func (e *RotatedError) Error() string {
	return fmt.Sprintf("the secret key was rotated on %s: the current one is %s, and %s holds only %s: copy the installation's "+
		"key file here and start with the same (docs/runbooks/rotate-keys.md)",
		e.Replaced.UTC().Format(time.DateOnly), e.Current, e.Path, e.Ours)
}

// OrderError says that the first key of a file was already replaced: it would seal again.
type OrderError struct {
	Path, First, Current string // fingerprints
}

func (e *OrderError) Error() string {
	return fmt.Sprintf("the first key of %s is %s, which was replaced by %s: put the line of that one first", e.Path, e.First, e.Current)
}

// CheckFingerprint compares a fingerprint with the one in the database and stores it if there
// is none. If two processes are first at once, one stores and the other compares. It returns
// *MismatchError if they differ.
func CheckFingerprint(ctx context.Context, db sqlx.ExtContext, name, value string) error {
	err := statement.Exec(ctx, db, "store the fingerprint of the "+name,
		`INSERT INTO installation (name, fingerprint) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, value)
	if err != nil {
		return err
	}
	stored, err := stored(ctx, db, name)
	if err == nil && stored.Fingerprint != value {
		err = &MismatchError{Name: name, Database: stored.Fingerprint, Ours: value, Since: stored.Since}
	}
	return err
}

// Fingerprint is what the database holds of something that all processes share; empty:
// nothing yet, the installation is new.
func Fingerprint(ctx context.Context, q sqlx.QueryerContext, name string) (string, error) {
	found, _, err := statement.Find[shared](ctx, q, "read the fingerprint of the "+name, `SELECT fingerprint, created_at FROM installation WHERE name = $1`, name)
	return found.Fingerprint, err
}

// FirstStore is the fingerprint of the blob store of a new installation. It follows from the
// installation's id, so the next start after one that died before it was stored finds its own
// store.
func FirstStore(ctx context.Context, q sqlx.QueryerContext) (string, error) {
	id, err := Fingerprint(ctx, q, "id")
	sum := sha256.Sum256([]byte(BlobStore + " of " + id))
	return hex.EncodeToString(sum[:16]), err
}

// ReplaceFingerprint stores the fingerprint of what has taken the place of what
// the installation had: the blob store that a backup was restored into.
func ReplaceFingerprint(ctx context.Context, db sqlx.ExtContext, name, value string) error {
	return statement.Exec(ctx, db, "replace the fingerprint of the "+name, `INSERT INTO installation (name, fingerprint) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET fingerprint = excluded.fingerprint, created_at = now()`, name, value)
}

// shared is what the database holds of something that all processes share.
type shared struct {
	Fingerprint string    `db:"fingerprint"`
	Since       time.Time `db:"created_at"`
}

func stored(ctx context.Context, q sqlx.QueryerContext, name string) (shared, error) {
	return statement.One[shared](ctx, q, "read the fingerprint of the "+name, `SELECT fingerprint, created_at FROM installation WHERE name = $1`, name)
}

// RequireKeys holds the key file against the database before anything is written to
// either: a process without the installation's key makes none beside it, and changes no
// schema. Where the database knows no key yet, LoadOrCreate and CheckKeys make the first.
// It returns *MissingError, and what Load and CheckKeys return.
func RequireKeys(ctx context.Context, q sqlx.QueryerContext, path string) error {
	const look = "look for the installation's key"
	there, err := statement.One[bool](ctx, q, look, `SELECT to_regclass('installation') IS NOT NULL`)
	if err != nil || !there {
		return err
	}
	current, known, err := statement.Find[shared](ctx, q, look, `SELECT fingerprint, created_at FROM installation WHERE name = $1`, SecretKey)
	if err != nil || !known {
		return err
	}
	ring, err := Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &MissingError{Path: path, Database: current.Fingerprint, Since: current.Since}
	}
	if err != nil {
		return err
	}
	return judge(ctx, q, path, ring.keys, current)
}

//go:embed sql/first_key.sql
var firstKeySQL string

// CheckKeys is CheckFingerprint for a ring of keys. The installation's current key must be in
// it, and first, unless a rotation was begun and not finished: then the first key is one that
// the database does not know yet. It returns *MismatchError, *RotatedError or *OrderError.
func CheckKeys(ctx context.Context, db sqlx.ExtContext, ring *Ring) error {
	keys := ring.Keys()
	err := statement.Exec(ctx, db, "store the fingerprint of the "+SecretKey, firstKeySQL, SecretKey, keys[0].Fingerprint(), keys[0].PublicKey())
	if err != nil {
		return err
	}
	current, err := stored(ctx, db, SecretKey)
	if err != nil {
		return err
	}
	return judge(ctx, db, ring.path, keys, current)
}

// Outdated returns an error if the installation's current key is not in the ring: the file of a
// running process is from before a rotation. Errors: *RotatedError, *MismatchError.
func (r *Ring) Outdated(ctx context.Context, q sqlx.QueryerContext) error {
	keys := r.Keys()
	current, known, err := statement.Find[shared](ctx, q, "look for the installation's key",
		`SELECT fingerprint, created_at FROM installation WHERE name = $1`, SecretKey)
	if err != nil || !known || slices.Contains(fingerprints(keys), current.Fingerprint) {
		return err
	}
	return judge(ctx, q, r.path, keys, current)
}

// judge says what is wrong with keys whose first is not the current one.
func judge(ctx context.Context, q sqlx.QueryerContext, path string, keys []*Key, key shared) error {
	ours, current := fingerprints(keys), key.Fingerprint
	if ours[0] == current {
		return nil
	}
	known, err := History(ctx, q)
	if err != nil {
		return err
	}
	wasCurrent := func(print string) bool {
		return slices.ContainsFunc(known, func(k Record) bool { return k.Fingerprint == print })
	}
	switch has := slices.Contains(ours, current); {
	case has && !wasCurrent(ours[0]): // a rotation that is not finished
		return nil
	case has:
		return &OrderError{Path: path, First: ours[0], Current: current}
	case slices.ContainsFunc(ours, wasCurrent):
		return &RotatedError{Path: path, Ours: strings.Join(ours, ", "), Current: current, Replaced: key.Since}
	}
	return &MismatchError{Name: SecretKey, Database: current, Ours: strings.Join(ours, ", "), Since: key.Since}
}

// Record is what the database knows of a key that is or was current.
type Record struct {
	Fingerprint string            `db:"fingerprint"`
	PublicKey   ed25519.PublicKey `db:"public_key"` // checks the heads that it signed
	Since       time.Time         `db:"since"`
	RetiredAt   *time.Time        `db:"retired_at"`
	Current     bool              `db:"current"`
}

// History lists every key that was ever current, oldest first.
func History(ctx context.Context, q sqlx.QueryerContext) ([]Record, error) {
	return statement.All[Record](ctx, q, "read the history of the keys", `SELECT k.fingerprint, k.public_key, k.since, k.retired_at,
		EXISTS (SELECT FROM installation i WHERE i.name = $1 AND i.fingerprint = k.fingerprint) AS current
		FROM installation_keys k ORDER BY k.since, k.fingerprint`, SecretKey)
}

// lockCurrent reads the current key's fingerprint for a change of keys, and
// makes others who want to change them wait.
func lockCurrent(ctx context.Context, tx *sqlx.Tx) (shared, error) {
	key, ok, err := statement.Find[shared](ctx, tx, "read the current key", `SELECT fingerprint, created_at FROM installation WHERE name = $1 FOR UPDATE`, SecretKey)
	if err == nil && !ok {
		err = errors.New("the database knows no key yet: start muster serve once")
	}
	return key, err
}
