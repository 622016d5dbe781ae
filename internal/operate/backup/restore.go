package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/files/blobs"
	"muster/internal/postgres"
	"muster/internal/postgres/statement"
	"muster/internal/secrets"
)

// RestoreTarget is the empty installation that a backup is restored into.
type RestoreTarget struct {
	DB       *sqlx.DB
	Database postgres.DumpDatabase // the same, as pg_restore reaches it
	Migrate  func(context.Context) error
	Events   *eventstore.Store
	Registry *eventstore.Registry
	Blobs    *blobs.Store
	KeyFile  string
	Progress func(string) // what is being done now
	// Revoke revokes, in the transaction that ends the restore, what must not come back with an
	// old state; Record records the restore.
	Revoke func(ctx context.Context, tx sqlx.ExtContext) error
	Record func(ctx context.Context) error
	// AcceptFindings finishes although logs or files do not fit. Accept then keeps what does
	// not fit in the logs as accepted, so that the installation goes on signing them.
	AcceptFindings bool
	Accept         func(context.Context) error
	// Signed compares the restored logs with everything that was signed of them: what the
	// backup has, and the files beside the key, which may know more than an older backup.
	// GiveUp moves these files aside, and names them.
	Signed func(context.Context) ([]string, error)
	GiveUp func(context.Context) ([]string, error)
}

func busy(err error) error {
	var locked *postgres.LockedError
	if errors.As(err, &locked) {
		return errors.New("another process restores or migrates this database: wait for it, then try again")
	}
	return err
}

// restoreLockID is the advisory lock of the one restore into a database:
// "restore" in ASCII.
const restoreLockID = 0x726573746f7265

// Restore loads a backup and returns the findings of a complete verification. Until it returns
// without error no other command opens the installation. After a death at any line, the same
// call continues where it stopped.
//
// Errors: *UnfinishedRestoreError (of another backup), and a sentence about the obstacle:
// nothing was written then, unless the verification failed.
func (t *RestoreTarget) Restore(ctx context.Context, b *Backup) (Verified, error) {
	conn, err := t.DB.Connx(ctx)
	if err != nil {
		return Verified{}, fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close() }()
	unlock, err := postgres.LockSession(ctx, conn, restoreLockID)
	if err != nil {
		return Verified{}, busy(err)
	}
	// The connection goes back to a pool: its session, and the lock, live on.
	defer func() { _ = unlock(context.WithoutCancel(ctx)) }()
	if err := t.load(ctx, conn, b); err != nil {
		return Verified{}, err
	}
	t.Progress("migrating the database")
	if err := t.Migrate(ctx); err != nil {
		return Verified{}, err
	}
	if err := t.claimStore(ctx, b); err != nil {
		return Verified{}, err
	}
	if err := t.copyFiles(ctx, b); err != nil {
		return Verified{}, err
	}
	if err := t.placeKeys(b); err != nil {
		return Verified{}, err
	}
	v, err := t.verify(ctx, b)
	if err != nil {
		return v, err
	}
	if v.Signed, err = t.Signed(ctx); err != nil {
		return v, err
	}
	n, signed := v.misfits(), len(v.Signed)
	switch {
	case t.AcceptFindings:
	case n > 0:
		return v, fmt.Errorf("%d things do not fit in what was restored, so it is not to be used yet. They were so when the backup was made: "+
			"restore an older one, or run this again with --accept-findings", n+signed)
	case signed > 0:
		return v, fmt.Errorf("what was restored is not what was signed last, in %d things, so it is not to be used yet. More was recorded after the backup, or something else: "+
			"restore a newer one, or run this again with --accept-findings, which gives up what was recorded since", signed)
	}
	if n > 0 {
		if err := t.Accept(ctx); err != nil {
			return v, err
		}
	}
	if signed > 0 {
		if v.GivenUp, err = t.GiveUp(ctx); err != nil {
			return v, err
		}
	}
	return v, t.finish(ctx)
}

// claimStore claims the blob store for this installation, before anything is written there. The
// store's name follows from the backup and the time at which the restore began, so a restore
// that continues finds its own, and no other restore does.
func (t *RestoreTarget) claimStore(ctx context.Context, b *Backup) error {
	marker, err := readMarker(ctx, t.DB)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(b.identity + " " + marker.BegunAt.UTC().Format(time.RFC3339Nano)))
	owner := hex.EncodeToString(sum[:16])
	if err := t.Blobs.Claim(ctx, owner); err != nil {
		return err
	}
	return secrets.ReplaceFingerprint(ctx, t.DB, secrets.BlobStore, owner)
}

// load marks the database and loads the dump, unless an earlier call has. No process migrates
// meanwhile: that would fill the database first.
func (t *RestoreTarget) load(ctx context.Context, conn *sqlx.Conn, b *Backup) error {
	unlock, err := postgres.LockSession(ctx, conn, postgres.MigrationLockID)
	if err != nil {
		return busy(err)
	}
	defer func() { _ = unlock(context.WithoutCancel(ctx)) }()
	major, err := postgres.ServerMajor(ctx, conn)
	if err != nil {
		return err
	}
	marker, err := readMarker(ctx, conn)
	switch {
	case err != nil:
		return err
	case marker == nil:
		if err := t.requireEmpty(ctx, b, major); err != nil {
			return err
		}
		if err := begin(ctx, t.DB, b); err != nil {
			return err
		}
	case marker.Backup != b.identity:
		return marker
	}
	loaded, err := holdsMuster(ctx, conn)
	if err != nil {
		return err
	}
	if !loaded {
		if err := t.loadDump(ctx, b, major); err != nil {
			// The pg_restore of a call that was killed may have come first: ours
			// waited for it, and then found everything there.
			if loaded, again := holdsMuster(ctx, conn); again != nil || !loaded {
				return err
			}
		}
	}
	return t.requireLoaded(ctx, b)
}

// requireLoaded holds the heads of the logs against those of the dump.
func (t *RestoreTarget) requireLoaded(ctx context.Context, b *Backup) error {
	for _, signed := range b.Heads {
		head, err := t.Events.Head(ctx, nil, signed.Head.Log)
		if err != nil {
			return err
		}
		if head.Position != signed.Head.Position || !bytes.Equal(head.Hash, signed.Head.Hash) {
			return fmt.Errorf("the database is marked as being restored and holds something else (log %s is at %s): drop it, make an empty one, and restore again",
				head.Log, head)
		}
	}
	return nil
}

func (t *RestoreTarget) loadDump(ctx context.Context, b *Backup, major int) (err error) {
	t.Progress("loading the database")
	dump, err := os.Open(filepath.Join(b.Dir, dumpName))
	if err != nil {
		return fmt.Errorf("open the dump: %w", err)
	}
	defer func() { err = errors.Join(err, dump.Close()) }()
	return postgres.Restore(ctx, t.Database, major, dump)
}

// requireEmpty looks at every part of the installation before one is written.
func (t *RestoreTarget) requireEmpty(ctx context.Context, b *Backup, major int) error {
	var problems []string
	if major < b.PgDump {
		problems = append(problems, fmt.Sprintf("the server is PostgreSQL %d and the dump was made by version %d: take a server of that version or a later one", major, b.PgDump))
	}
	taken, err := holdsMuster(ctx, t.DB)
	if err != nil {
		return err
	}
	if taken {
		problems = append(problems, "the database holds an installation; name another data directory (--data-dir) or an empty database (--database-url)")
	}
	files, err := t.Blobs.Files(ctx, 1)
	if err != nil {
		return err
	}
	owner, err := t.Blobs.Owner(ctx)
	if err != nil {
		return err
	}
	switch {
	case len(files) > 0:
		problems = append(problems, fmt.Sprintf("the blob store holds files (%s); name an empty one (--blob-url, or --data-dir)", files[0]))
	case owner != "":
		problems = append(problems, "the blob store belongs to another installation, as its file muster-store says; name an unused one (--blob-url, or --data-dir), "+
			"or remove that file if nothing uses the store any more")
	}
	if err := t.requireKeyFile(b); err != nil {
		problems = append(problems, err.Error())
	}
	if len(problems) > 0 {
		return errors.New("a backup is restored into an empty installation only: " + strings.Join(problems, "; "))
	}
	return nil
}

// holdsMuster says whether a database was ever migrated, or a dump loaded.
func holdsMuster(ctx context.Context, q sqlx.QueryerContext) (bool, error) {
	return statement.One[bool](ctx, q, "look into the database",
		`SELECT to_regclass('goose_db_version') IS NOT NULL OR to_regclass('events') IS NOT NULL OR to_regclass('log_head') IS NOT NULL`)
}

// requireKeyFile accepts a place without a key file, or with the backup's keys.
func (t *RestoreTarget) requireKeyFile(b *Backup) error {
	there, err := secrets.Load(t.KeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if there.String() != b.keys.String() { // by their fingerprints
		return fmt.Errorf("%s holds other keys; move it away, or name another file (--secret-key-file)", t.KeyFile)
	}
	return nil
}

func (t *RestoreTarget) placeKeys(b *Backup) error {
	err := secrets.Create(t.KeyFile, b.keys.Keys())
	if errors.Is(err, fs.ErrExist) {
		return t.requireKeyFile(b)
	}
	return err
}

// copyFiles copies the files of reports that are not there already.
func (t *RestoreTarget) copyFiles(ctx context.Context, b *Backup) error {
	from, err := openBlobs(ctx, b.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	files := b.blobFiles()
	for i, want := range files {
		t.Progress(fmt.Sprintf("copying file %d of %d", i+1, len(files)))
		there, err := t.Blobs.Digest(ctx, want.Name)
		var none *blobs.MissingFileError
		var broken *blobs.DamagedFileError
		if err != nil && !errors.As(err, &none) && !errors.As(err, &broken) {
			return err
		}
		if err == nil && there.SHA256 == want.SHA256 {
			continue
		}
		copied, err := t.Blobs.Copy(ctx, from, want.Name)
		if err != nil {
			return err
		}
		if copied.SHA256 != want.SHA256 {
			return changed(b.Dir, blobsDir+"/"+want.Name+" was changed since it was checked")
		}
	}
	return nil
}

// finish makes the installation ready to be served.
func (t *RestoreTarget) finish(ctx context.Context) error {
	if err := t.Record(ctx); err != nil {
		return err
	}
	return eventstore.Transact(ctx, t.DB, func(tx *sqlx.Tx) error {
		if err := t.Revoke(ctx, tx); err != nil {
			return err
		}
		return statement.Exec(ctx, tx, "unmark the database", dropMarker)
	})
}

// Verified is what a restored installation was found to be.
type Verified struct {
	Logs     []eventstore.Verification
	Reports  int // whose files were held against the log
	Files    int
	Absent   []Absent // left out of the backup, so not looked for
	Findings []string // what of the files does not fit
	Signed   []string // what does not fit what was signed of the logs
	GivenUp  []string // files with what was signed last that were moved aside
}

// misfits counts what does not fit, in logs and files.
func (v *Verified) misfits() int {
	n := len(v.Findings)
	for _, log := range v.Logs {
		n += log.Misfits
	}
	return n
}

// verify holds the logs against the heads that were signed when the backup was
// made, and every file that they name against its digest.
func (t *RestoreTarget) verify(ctx context.Context, b *Backup) (Verified, error) {
	v := Verified{Absent: b.Absent}
	var err error
	if v.Logs, err = verifyLogs(ctx, t.Events, b.Heads, t.Progress); err != nil {
		return v, err
	}
	return v, t.verifyFiles(ctx, b, &v)
}

func (t *RestoreTarget) verifyFiles(ctx context.Context, b *Backup, v *Verified) error {
	files, unread, err := keptFiles(ctx, t.Events, t.Registry, upTo{b.head(eventstore.Reports).Position, b.head(eventstore.Organization).Position})
	if err != nil {
		return err
	}
	left := make(map[string]bool, len(b.Absent))
	for _, a := range b.Absent {
		left[a.Name] = true
	}
	for _, u := range unread {
		if !left[u.Name] {
			v.Findings = append(v.Findings, u.Name+" is unknown: this program cannot decode the event")
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
