package backup

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"muster/eventstore"
	"muster/internal/files/blobs"
	"muster/internal/postgres"
	"muster/internal/secrets"
)

// Backup is a whole and unchanged backup.
type Backup struct {
	Manifest
	Dir      string
	keys     *secrets.Ring
	identity string // by which a restore that was cut off goes on with the same one
}

// PublicKey signed the manifest and its heads.
func (b *Backup) PublicKey() ed25519.PublicKey { return b.keys.Current().PublicKey() }

// Read reads a backup and holds every byte of it against its manifest, and the
// manifest against its signature. Errors: those of secrets.Load, and a sentence of what
// is wrong with it.
func Read(ctx context.Context, dir string, progress func(string)) (*Backup, error) {
	m, signed, signature, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	if m.Format > format {
		return nil, m.newer("its layout", int64(m.Format), format)
	}
	schema, err := postgres.KnownSchemaVersion()
	if err != nil {
		return nil, err
	}
	if m.Schema > schema {
		return nil, m.newer("its schema version", m.Schema, schema)
	}
	keys, err := secrets.Load(filepath.Join(dir, keyName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, changed(dir, keyName+" is missing")
	}
	if err != nil {
		return nil, err
	}
	b := &Backup{Manifest: m, Dir: dir, keys: keys, identity: fmt.Sprintf("%x", sha256.Sum256(signed))}
	if !ed25519.Verify(b.PublicKey(), signed, signature) {
		return nil, changed(dir, manifestName+" or "+keyName+" was changed: the signature does not fit")
	}
	problems, err := b.problems(ctx, progress)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, changed(dir, problems...)
	}
	return b, nil
}

// newer is the error of a backup whose layout or schema this program does not know yet.
func (m Manifest) newer(what string, theirs, ours int64) error {
	return fmt.Errorf("the backup was made by Muster %s: %s is %d, and this program knows only up to %d: restore it with that version or a later one",
		m.Muster, what, theirs, ours)
}

// problems holds the files against the manifest.
func (b *Backup) problems(ctx context.Context, progress func(string)) (problems []string, err error) {
	for _, signed := range b.Heads {
		if err := eventstore.VerifySignedHead(b.PublicKey(), signed); err != nil {
			problems = append(problems, err.Error())
		}
	}
	listed := make(map[string]bool)
	for i, want := range b.Files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		progress(fmt.Sprintf("checking file %d of %d", i+1, len(b.Files)))
		listed[want.Name] = true
		if !expected(want.Name) {
			problems = append(problems, fmt.Sprintf("%q is no name of a file of a backup", want.Name))
			continue
		}
		found, err := measure(b.Dir, want.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			problems = append(problems, want.Name+" is missing")
		case err != nil:
			return nil, err
		case found != want:
			problems = append(problems, want.Name+" was changed")
		}
	}
	for _, name := range []string{dumpName, keyName} {
		if !listed[name] {
			problems = append(problems, manifestName+" does not list "+name)
		}
	}
	return problems, nil
}

// expected says whether a manifest may list a file with this name: listed files are read and
// copied.
func expected(name string) bool {
	if name == dumpName || name == keyName {
		return true
	}
	blob, found := strings.CutPrefix(name, blobsDir+"/")
	_, _, ok := blobs.ParseName(blob)
	return found && ok && filepath.IsLocal(filepath.FromSlash(name)) && !strings.Contains(name, "..")
}

// blobFiles are the files of reports, by their names in the blob store.
func (b *Backup) blobFiles() []KeptFile {
	var files []KeptFile
	for _, f := range b.Files {
		if name, ok := strings.CutPrefix(f.Name, blobsDir+"/"); ok {
			files = append(files, KeptFile{Name: name, SizeBytes: f.SizeBytes, SHA256: f.SHA256})
		}
	}
	return files
}
