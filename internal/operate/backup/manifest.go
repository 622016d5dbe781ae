package backup

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"muster/eventstore"
	"muster/internal/files/atomicfile"
)

// format is the version of a backup's layout. A program reads those up to its own.
const format = 1

// Names in a backup's directory. Files of reports are below blobsDir, under
// their names in the blob store.
const (
	manifestName = "manifest.json"
	dumpName     = "database.dump"
	keyName      = "secret.key"
	blobsDir     = "blobs"
	claimName    = manifestName + ".part" // while the backup is made; it becomes the manifest
)

// Manifest says what a backup holds.
type Manifest struct {
	Format        int                     `json:"format"`
	Muster        string                  `json:"muster"` // version that made it
	MadeAt        time.Time               `json:"madeAt"`
	PostgreSQL    int                     `json:"postgresql"` // major version of the server
	PgDump        int                     `json:"pgDump"`     // major version of the program: an older server does not read its dump
	Schema        int64                   `json:"schema"`     // last migration
	Organizations int                     `json:"organizations"`
	Heads         []eventstore.SignedHead `json:"heads"` // of the logs, as the dump has them
	Files         []KeptFile              `json:"files"`
	Absent        []Absent                `json:"absent,omitempty"`
	Findings      []string                `json:"findings,omitempty"` // what did not fit in the logs, at most 100 of each; accepted by the operator
}

// KeptFile is one file of a backup.
type KeptFile struct {
	Name      string `json:"name"` // with slashes, relative to the backup's directory
	SizeBytes int64  `json:"sizeBytes"`
	SHA256    string `json:"sha256"` // hex
}

// Absent is a file that the log of the dump names and the backup does not hold
// as the log says, or a key of something in it.
type Absent struct {
	Name   string `json:"name"`
	Reason string `json:"reason"` // erased, missing, damaged, unreadable
}

// Why a file is absent.
const (
	erased  = "erased"  // while the backup was made, as the log says since
	missing = "missing" // and nothing says why; accepted by the operator
	damaged = "damaged" // it is there, and is not what the log says; likewise
	// unreadable: the event that names it cannot be decoded; likewise
	unreadable = "unreadable"
)

// signedManifest is the content of manifest.json.
type signedManifest struct {
	Manifest  json.RawMessage `json:"manifest"`
	Signature []byte          `json:"signature"` // Ed25519, by the current key of secret.key
}

// signedPrefix keeps a signature over a manifest from being one over anything else.
const signedPrefix = "muster-backup-1 "

// message is what is signed: the manifest without white space.
func message(manifest []byte) ([]byte, error) {
	compact := bytes.NewBufferString(signedPrefix)
	if err := json.Compact(compact, manifest); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}

// writeManifest makes a directory a backup: last, and in one step.
func writeManifest(dir string, m Manifest, signer ed25519.PrivateKey) error {
	encoded, err := json.Marshal(m)
	if err != nil {
		return err
	}
	signed, err := message(encoded)
	if err != nil {
		return err
	}
	content, err := json.MarshalIndent(signedManifest{Manifest: encoded, Signature: ed25519.Sign(signer, signed)}, "", "  ")
	if err != nil {
		return err
	}
	aside, err := os.OpenFile(filepath.Join(dir, claimName), os.O_WRONLY|os.O_TRUNC, 0) // its mode is that of the claim
	if err != nil {
		return err
	}
	_, err = aside.Write(append(content, '\n'))
	if err := errors.Join(err, aside.Sync(), aside.Close()); err != nil {
		return err
	}
	if err := os.Rename(aside.Name(), filepath.Join(dir, manifestName)); err != nil {
		return err
	}
	return errors.Join(atomicfile.SyncDir(dir), atomicfile.SyncDir(filepath.Dir(dir)))
}

// readManifest reads manifest.json, and the signed message. Neither may be trusted before the
// signature is checked.
func readManifest(dir string) (m Manifest, signed, signature []byte, err error) {
	content, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return m, nil, nil, fmt.Errorf("%s is not a backup: it has no %s, which is written last: the backup was not finished", dir, manifestName)
	}
	if err != nil {
		return m, nil, nil, fmt.Errorf("read the manifest: %w", err)
	}
	var outer signedManifest
	if err = json.Unmarshal(content, &outer); err == nil {
		signed, err = message(outer.Manifest)
	}
	if err == nil {
		err = json.Unmarshal(outer.Manifest, &m)
	}
	if err != nil {
		return m, nil, nil, fmt.Errorf("%s is not a backup: %s cannot be read: %w", dir, manifestName, err)
	}
	return m, signed, outer.Signature, nil
}

// changed is the error of a backup that is not what was made.
func changed(dir string, problems ...string) error {
	const shown = 5
	more := ""
	if len(problems) > shown {
		more = fmt.Sprintf("; and %d more", len(problems)-shown)
		problems = problems[:shown]
	}
	return fmt.Errorf("the backup in %s is not what was made: %s%s. Nothing was restored; use another copy of it", dir, strings.Join(problems, "; "), more)
}
