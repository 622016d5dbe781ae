package secrets

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// Reseal seals everything again that was sealed under other keys, in the
// transaction of a change of keys, and returns how much that was.
type Reseal func(ctx context.Context, tx *sqlx.Tx) (int, error)

// Rotation is what a change of keys has done.
type Rotation struct {
	Current  string // fingerprint
	Previous string // fingerprint
	Resealed int
	Finished bool // it was begun by a process that did not come to its end
}

// Rotate makes a new current key: first in the file, in front of the old ones, then in the
// database, where everything sealed is sealed again and the fingerprint replaced in one
// transaction. It finishes a rotation that was cut off between the two, and then makes no
// further key.
//
// record records the rotation before the commit: an entry too many is better than an unrecorded
// rotation. A concurrent rotation waits. It returns the errors of CheckKeys.
func Rotate(ctx context.Context, db *sqlx.DB, path string, reseal Reseal, record func(Rotation) error) (Rotation, error) {
	var done Rotation
	err := changeKeys(ctx, db, path, func(tx *sqlx.Tx, ring *Ring, current string) error {
		done = Rotation{Current: ring.Fingerprint(), Previous: current, Finished: true}
		if done.Current == current {
			if err := replace(ring.path, append([]*Key{newKey()}, ring.Keys()...)); err != nil {
				return fmt.Errorf("%w; where an orchestrator hands the file in, put a new line in front by its means (openssl rand -hex 32), "+
					"and rotate again", err)
			}
			done.Current, done.Finished = ring.Fingerprint(), false
		}
		err := statement.Exec(ctx, tx, "keep the public key", `INSERT INTO installation_keys (fingerprint, public_key) VALUES ($1, $2)`,
			done.Current, ring.Current().PublicKey())
		if err != nil {
			return err
		}
		if err := ReplaceFingerprint(ctx, tx, SecretKey, done.Current); err != nil {
			return err
		}
		if err := ring.resealMarks(ctx, tx); err != nil {
			return err
		}
		if done.Resealed, err = reseal(ctx, tx); err != nil {
			return err
		}
		return record(done)
	}, func() error { return nil })
	return done, err
}

// Retire removes the old keys from the file, after everything that was still sealed under them
// has been sealed again. It returns the fingerprints of the removed keys, and the errors of
// Rotate; *UnfinishedError if a rotation has to be finished first. record is called before the
// commit, if there are old keys.
func Retire(ctx context.Context, db *sqlx.DB, path string, reseal Reseal, record func(retired []string) error) (retired []string, err error) {
	var file *Ring
	err = changeKeys(ctx, db, path, func(tx *sqlx.Tx, ring *Ring, current string) error {
		if ring.Fingerprint() != current {
			return &UnfinishedError{New: ring.Fingerprint(), Current: current}
		}
		file, retired = ring, fingerprints(ring.Keys()[1:])
		err := statement.Exec(ctx, tx, "retire the old keys",
			`UPDATE installation_keys SET retired_at = now() WHERE fingerprint <> $1 AND retired_at IS NULL`, current)
		if err != nil {
			return err
		}
		if err := ring.retireMarks(ctx, tx); err != nil {
			return err
		}
		if _, err = reseal(ctx, tx); err != nil || len(retired) == 0 {
			return err
		}
		return record(retired)
	}, func() error { // last: a key is never lost that something needs
		if len(retired) == 0 {
			return nil
		}
		if err := replace(file.path, file.Keys()[:1]); err != nil {
			return fmt.Errorf("the old keys are retired and still in the file: %w; "+
				"remove all lines but the first by the means that put it there", err)
		}
		return nil
	})
	return retired, err
}

// UnfinishedError says that a rotation was begun and not finished.
type UnfinishedError struct {
	New, Current string // fingerprints: first in the file, the database's
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("a rotation from key %s to %s was not finished: run muster keys rotate, which finishes it", e.Current, e.New)
}

// changeKeys runs change in a transaction that holds the row of the current key
// and the file's lock, on the file as it is by then; after the commit it runs
// what is left to do under the lock.
func changeKeys(ctx context.Context, db *sqlx.DB, path string,
	change func(tx *sqlx.Tx, ring *Ring, current string) error, afterwards func() error,
) error {
	release := func() {}
	defer func() { release() }()
	err := transact.Once(ctx, db, nil, func(tx *sqlx.Tx) error {
		current, err := lockCurrent(ctx, tx)
		if err != nil {
			return err
		}
		// The row makes the processes of this installation take turns. The file's lock is for a
		// process that lost its connection, and the row with it, between reading the file and
		// replacing it.
		if path, err = filepath.EvalSymlinks(path); err != nil { // the file, not a link that leads to it
			return fmt.Errorf("find the secret key: %w", err)
		}
		unlock, err := lock(ctx, path)
		if err != nil {
			return err
		}
		release = unlock
		ring, err := Load(path)
		if err != nil {
			return err
		}
		if err := judge(ctx, tx, path, ring.Keys(), current); err != nil {
			return err
		}
		return change(tx, ring, current.Fingerprint)
	})
	if err != nil {
		return err
	}
	return afterwards()
}
