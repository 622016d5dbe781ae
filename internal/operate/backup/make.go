package backup

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/concurrency/pause"
	"muster/internal/files/blobs"
	"muster/internal/postgres"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
	"muster/internal/secrets"
)

// Source is an installation, running or not, that a backup is made of.
type Source struct {
	DB       *sqlx.DB
	Database postgres.DumpDatabase // the same, as pg_dump reaches it
	Events   *eventstore.Store
	Registry *eventstore.Registry
	Blobs    *blobs.Store
	Keys     *secrets.Ring
	// Sealed counts what is sealed in the database by the key it is sealed under.
	Sealed   func(ctx context.Context, q sqlx.QueryerContext) (map[string]int, error)
	Version  string // of this program
	Now      func() time.Time
	Progress func(string) // what is being done now
	// Record records the backup before it exists: an entry too many is better than an
	// unrecorded copy of the keys.
	Record func(context.Context, Manifest) error
	// Accepted returns which findings in a log an operator accepted in an earlier restore
	// (checkpoint.Verifier): the backup is made over them and notes them.
	Accepted func(context.Context, eventstore.Log) (func(eventstore.Mismatch) bool, error)
	// AcceptFindings makes the backup although events of the logs do not fit, files are
	// missing or damaged, an event does not say which there are, or a key is lost.
	AcceptFindings bool
}

// Make makes a backup in dir, which must be empty or absent. What failed is
// removed again. It refuses, unless they are accepted, logs that do not verify, files that
// are not there, or not what the log says, and a log that does not say which there are.
func (s *Source) Make(ctx context.Context, dir string) (Manifest, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("find the backup's directory: %w", err)
	}
	if err := claim(dir); err != nil {
		return Manifest{}, err
	}
	m, err := s.fill(ctx, dir)
	if err != nil {
		// The manifest first, so that no half looks whole, and the claim last.
		for _, name := range []string{manifestName, dumpName, keyName, blobsDir, claimName} {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
		}
	}
	return m, err
}

// claim takes an empty directory for this backup alone: of two that are made in
// the same one, the second would remove what the first has written.
func claim(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the backup's directory: %w", err)
	}
	ours := filepath.Join(dir, claimName)
	file, err := os.OpenFile(ours, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return notEmpty(dir)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return fmt.Errorf("claim the backup's directory: %w", err)
	}
	found, err := os.ReadDir(dir)
	switch {
	case err != nil:
		err = fmt.Errorf("look into the backup's directory: %w", err)
	case len(found) > 1:
		err = notEmpty(dir)
	default:
		if err = os.Chmod(dir, 0o700); err == nil { // it holds the key
			return nil
		}
		err = fmt.Errorf("close the backup's directory to others: %w", err)
	}
	return errors.Join(err, os.Remove(ours))
}

func notEmpty(dir string) error {
	return fmt.Errorf("%s is not empty: name a new directory, or remove what an unfinished backup has left there", dir)
}

// fill writes the parts in this order: the database, the files that it names,
// the keys, and the manifest, which makes it a backup.
func (s *Source) fill(ctx context.Context, dir string) (Manifest, error) {
	m := Manifest{Format: format, Muster: s.Version, MadeAt: s.Now().UTC().Truncate(time.Second)}
	keys, err := s.dump(ctx, dir, &m)
	if err != nil {
		return m, err
	}
	if err := s.verify(ctx, &m); err != nil {
		return m, err
	}
	if err := s.copyFiles(ctx, dir, &m); err != nil {
		return m, err
	}
	if err := secrets.Create(filepath.Join(dir, keyName), keys); err != nil {
		return m, err
	}
	s.Progress("digesting the dump")
	for _, name := range []string{dumpName, keyName} {
		file, err := measure(dir, name)
		if err != nil {
			return m, err
		}
		m.Files = append(m.Files, file)
	}
	if err := s.Record(ctx, m); err != nil {
		return m, err
	}
	if err := writeManifest(dir, m, keys[0].Signer()); err != nil {
		return m, fmt.Errorf("write the manifest: %w", err)
	}
	return m, nil
}

// dump dumps the database as one snapshot shows it and notes what that holds. It
// returns the keys that the installation had before or after, so that those of
// the snapshot are among them whatever was rotated or retired meanwhile.
func (s *Source) dump(ctx context.Context, dir string, m *Manifest) ([]*secrets.Key, error) {
	before := s.Keys.Keys()
	var keys []*secrets.Key
	err := s.reading(ctx, sql.LevelReadCommitted, func(keeper *sqlx.Tx) error {
		if err := statement.Exec(ctx, keeper, "keep the tables from being dropped", keepTables); err != nil {
			return err
		}
		return s.reading(ctx, sql.LevelRepeatableRead, func(tx *sqlx.Tx) (err error) {
			keys, err = s.dumpSnapshot(ctx, tx, dir, before, m)
			return err
		})
	})
	return keys, err
}

func (s *Source) dumpSnapshot(ctx context.Context, tx *sqlx.Tx, dir string, before []*secrets.Key, m *Manifest) ([]*secrets.Key, error) {
	snapshot, err := statement.One[string](ctx, tx, "export a snapshot", `SELECT pg_export_snapshot()`)
	if err != nil {
		return nil, err
	}
	keys := union(s.Keys.Keys(), before)
	if err := s.describe(ctx, tx, keys[0], m); err != nil {
		return nil, err
	}
	sealed, err := s.Sealed(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		delete(sealed, k.Fingerprint())
	}
	for fingerprint, n := range sealed {
		if !s.AcceptFindings {
			return nil, fmt.Errorf("%d connections are sealed under key %q, which is not in %s: without it the backup could not be restored whole. "+
				"Put its line there, enter those connections again, or make the backup anyway with --accept-findings", n, fingerprint, s.Keys.Path())
		}
		m.Absent = append(m.Absent, Absent{Name: fmt.Sprintf("key %q, under which %d connections are sealed", fingerprint, n), Reason: missing})
	}
	s.Progress("dumping the database")
	m.PgDump, err = postgres.Dump(ctx, s.Database, m.PostgreSQL, snapshot, filepath.Join(dir, dumpName))
	return keys, err
}

//go:embed sql/keep_tables.sql
var keepTables string

// reading runs do in a transaction that reads, and lies idle for as long as the dump
// takes.
func (s *Source) reading(ctx context.Context, isolation sql.IsolationLevel, do func(tx *sqlx.Tx) error) error {
	return transact.Once(ctx, s.DB, &sql.TxOptions{Isolation: isolation, ReadOnly: true}, func(tx *sqlx.Tx) error {
		if err := statement.Exec(ctx, tx, "let a transaction lie idle", `SET LOCAL idle_in_transaction_session_timeout = 0`); err != nil {
			return err
		}
		return do(tx)
	})
}

// union is keys and those of more that are not among them.
func union(keys, more []*secrets.Key) []*secrets.Key {
	all := slices.Clone(keys)
	for _, k := range more {
		if !slices.ContainsFunc(keys, func(had *secrets.Key) bool { return had.Fingerprint() == k.Fingerprint() }) {
			all = append(all, k)
		}
	}
	return all
}

// describe notes what the snapshot of tx holds.
func (s *Source) describe(ctx context.Context, tx *sqlx.Tx, key *secrets.Key, m *Manifest) (err error) {
	if m.PostgreSQL, err = postgres.ServerMajor(ctx, tx); err != nil {
		return err
	}
	if m.Schema, err = postgres.SchemaVersion(ctx, tx); err != nil {
		return err
	}
	if m.Organizations, err = statement.One[int](ctx, tx, "count the organizations", `SELECT count(*) FROM organizations`); err != nil {
		return err
	}
	for _, log := range eventstore.Logs {
		head, err := s.Events.Head(ctx, tx, log)
		if err != nil {
			return err
		}
		m.Heads = append(m.Heads, eventstore.SignHead(key.Signer(), head))
	}
	return nil
}

// verify verifies the logs against the heads that are about to be signed.
func (s *Source) verify(ctx context.Context, m *Manifest) error {
	logs, err := verifyLogs(ctx, s.Events, m.Heads, s.Progress)
	if err != nil {
		return err
	}
	misfits, first := 0, ""
	for _, log := range logs {
		accepted, err := s.Accepted(ctx, log.Log)
		if err != nil {
			return err
		}
		misfits += log.Misfits
		for _, f := range log.Findings {
			m.Findings = append(m.Findings, f.String())
			if accepted(f) {
				misfits--
			} else if first == "" {
				first = f.String()
			}
		}
	}
	if misfits > 0 && !s.AcceptFindings {
		return fmt.Errorf("%d things do not fit in the logs, the first of them %s: no backup was made. "+
			"Keep the database as it is and tell the auditor (docs/runbooks/alerts.md, MusterHistoryAltered), or make the backup all the same with --accept-findings", misfits, cmp.Or(first, "one after the first that are named"))
	}
	return nil
}

// verifyLogs verifies each log against its head.
func verifyLogs(ctx context.Context, events *eventstore.Store, heads []eventstore.SignedHead, progress func(string)) ([]eventstore.Verification, error) {
	logs := make([]eventstore.Verification, len(heads))
	for i, signed := range heads {
		witness := signed.Head
		var err error
		logs[i], err = events.Verify(ctx, witness.Log, eventstore.VerifyOptions{
			Witness: &witness,
			Progress: func(position, last int64) {
				progress(fmt.Sprintf("verifying log %s, %d of %d", witness.Log, position, last))
			},
		})
		if err != nil {
			return nil, err
		}
	}
	return logs, nil
}

// copyFiles copies every file that the dumped log names and holds it against
// the log.
func (s *Source) copyFiles(ctx context.Context, dir string, m *Manifest) error {
	files, findings, err := keptFiles(ctx, s.Events, s.Registry, upTo{m.head(eventstore.Reports).Position, m.head(eventstore.Organization).Position})
	if err != nil {
		return err
	}
	into, err := openBlobs(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }()
	var vanished []kept
	for i, file := range files {
		s.Progress(fmt.Sprintf("copying file %d of %d", i+1, len(files)))
		copied, err := into.Copy(ctx, s.Blobs, file.name)
		var none *blobs.MissingFileError
		if errors.As(err, &none) {
			vanished = append(vanished, file)
			continue
		}
		var broken *blobs.DamagedFileError
		if errors.As(err, &broken) { // the store does not give all of it
			findings = append(findings, Absent{Name: file.name, Reason: damaged})
			continue
		}
		if err != nil {
			return err
		}
		m.Files = append(m.Files, KeptFile{Name: blobsDir + "/" + file.name, SizeBytes: copied.SizeBytes, SHA256: copied.SHA256})
		if ok, err := file.matches(ctx, into); err != nil {
			return err
		} else if !ok {
			findings = append(findings, Absent{Name: file.name, Reason: damaged})
		}
	}
	absent, err := s.explain(ctx, vanished)
	if err != nil {
		return err
	}
	m.Absent = slices.Concat(m.Absent, absent, findings)
	findings = slices.DeleteFunc(slices.Clone(m.Absent), func(a Absent) bool { return a.Reason == erased })
	if len(findings) > 0 && !s.AcceptFindings {
		return fmt.Errorf("%d files that the log names are missing, damaged or unreadable, the first of them %s (%s): no backup was made. "+
			"Put them back, or make it without them with --accept-findings", len(findings), findings[0].Name, findings[0].Reason)
	}
	return nil
}

func (m *Manifest) head(log eventstore.Log) eventstore.Head {
	for _, signed := range m.Heads {
		if signed.Head.Log == log {
			return signed.Head
		}
	}
	return eventstore.Head{Log: log}
}

// erasurePatience is how long files that are gone may wait for the event that
// says so: inputs are deleted first and the event follows.
const (
	erasurePatience = 5 * time.Second
	erasurePoll     = 100 * time.Millisecond
)

// explain says why files are gone: the live log says that they were erased since
// the dump, or nothing does.
func (s *Source) explain(ctx context.Context, vanished []kept) ([]Absent, error) {
	if len(vanished) == 0 {
		return nil, nil
	}
	patience, cancel := context.WithTimeout(ctx, erasurePatience)
	defer cancel()
	for {
		reports, err := s.Events.Head(ctx, nil, eventstore.Reports)
		if err != nil {
			return nil, err
		}
		organizations, err := s.Events.Head(ctx, nil, eventstore.Organization)
		if err != nil {
			return nil, err
		}
		still, _, err := keptFiles(ctx, s.Events, s.Registry, upTo{reports.Position, organizations.Position})
		if err != nil {
			return nil, err
		}
		names := make(map[string]bool, len(still))
		for _, k := range still {
			names[k.name] = true
		}
		var absent []Absent
		unexplained := false
		for _, v := range vanished {
			reason := erased
			if names[v.name] {
				reason, unexplained = missing, true
			}
			absent = append(absent, Absent{Name: v.name, Reason: reason})
		}
		if !unexplained || pause.For(patience, erasurePoll) != nil {
			return absent, ctx.Err()
		}
	}
}
