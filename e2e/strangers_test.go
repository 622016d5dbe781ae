package e2e

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/cli/command"
	"muster/internal/testing/pgtest"
)

// stranger is a process that is started on the database of others, and what it has to say.
type stranger struct {
	flags []string // beside the database's
	says  []string
	made  string // a directory in which it may make nothing
}

// refused starts strangers, none of whom may serve, write to the database, or make a file.
func (i installed) refused(t *testing.T, strangers map[string]stranger) {
	t.Helper()
	db := pgtest.Connect(t, i.url)
	var last int64
	if err := db.Get(&last, `DELETE FROM goose_db_version WHERE abs(version_id) = (SELECT max(abs(version_id)) FROM goose_db_version) RETURNING version_id`); err != nil {
		t.Fatal(err)
	}
	held := func() (state string) {
		if err := db.Get(&state, `SELECT concat((SELECT max(abs(version_id)) FROM goose_db_version), ' ', (SELECT count(*) FROM events), ' ',
			(SELECT count(*) FROM published_keys), ' ', (SELECT count(*) FROM security_log), ' ', (SELECT string_agg(name || fingerprint, ' ' ORDER BY name) FROM installation))`); err != nil {
			t.Fatal(err)
		}
		return state
	}
	before := held()
	for name, s := range strangers {
		got := launchHere(t, serveArgs(append([]string{"--database-url", i.url}, s.flags...))...).outcome(t)
		if got.status != command.ExitFailed || got.out != "" {
			t.Errorf("%s: serve ended with %d and printed %q", name, got.status, got.out)
		}
		got.says(t, s.says...)
		if after := held(); after != before {
			t.Errorf("%s: the database was\n%s\nand is\n%s", name, before, after)
		}
		if made, err := os.ReadDir(s.made); err != nil && !errors.Is(err, fs.ErrNotExist) || len(made) > 0 {
			t.Errorf("%s: it made %v, %v", name, made, err)
		}
	}
	db.MustExec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)`, last)
}

// TestStrangersAreRefused: one of three replicas has no secret key, or that of another
// installation, or a second installation is given the database of the first. Each says which
// setting is wrong before it serves, migrates or makes a key, and the others go on.
func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	first := servingHere(t, append(i.flags(), "--collect-own-host=off")...)
	second := servingHere(t, append(i.flags(), append([]string{"--roles=api", "--collect-own-host=off", "--ops-listen=127.0.0.1:0"}, signsFor(t, 10)...)...)...)
	store := "--blob-url=file://" + filepath.Join(i.dir, "blobs")
	fresh, nothing := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "none")
	foreign := fileWith(t, "secret.key", strings.Repeat("5a", 32)+"\n")
	theirs := installed{url: pgtest.EmptyURL(t), dir: t.TempDir()}
	servingHere(t, append(theirs.flags(), "--collect-own-host=off")...).stop(t)
	i.refused(t, map[string]stranger{
		"no key": {
			[]string{"--data-dir", fresh, store},
			[]string{"there is no secret key at " + filepath.Join(fresh, "secret.key"), "--secret-key-file", "start with the same"}, fresh,
		},
		"no key where it should be": {
			[]string{"--data-dir", fresh, store, "--secret-key-file", filepath.Join(fresh, "keys", "ours")},
			[]string{filepath.Join(fresh, "keys", "ours"), "--secret-key-file", "start with the same"}, fresh,
		},
		"another installation's": {
			[]string{"--data-dir", fresh, store, "--secret-key-file", foreign},
			[]string{"whose secret key is", "--secret-key-file", "start with the same"}, fresh,
		},
		"a key that all may read": {
			[]string{"--data-dir", fresh, store, "--secret-key-file", readable(t, filepath.Join(i.dir, "secret.key"))},
			[]string{"chmod 600"}, fresh,
		},
		"an installation that works elsewhere": {
			[]string{"--data-dir", theirs.dir}, []string{"whose secret key is", "--secret-key-file", "--database-url"}, nothing,
		},
		"a new installation": {
			[]string{"--data-dir", nothing}, []string{"there is no secret key", "--database-url"}, nothing,
		},
	})
	for what, c := range map[string]struct{ flags, says []string }{
		// With a copy of the key it is told by the files: a copy of an installation is none of it.
		"an installation with a copy of the key": {
			[]string{"--data-dir", theirs.dir, "--secret-key-file", filepath.Join(i.dir, "secret.key")}, []string{"the blob store belongs to another installation", "--blob-url", "--database-url"},
		},
		"a replica whose certificate for PDFs has ended": {
			append([]string{"--data-dir", i.dir}, signsFor(t, -1)...), []string{"--signing-cert-file", "cert.pem", "ended on"},
		},
	} {
		got := launchHere(t, serveArgs(append([]string{"--database-url", i.url}, c.flags...))...).outcome(t)
		if got.status != command.ExitFailed || got.out != "" {
			t.Errorf("%s: serve ended with %d and printed %q", what, got.status, got.out)
		}
		got.says(t, c.says...)
	}
	for _, r := range []*running{first, second} {
		if !r.isReady() {
			t.Error("one of the others is not ready")
		}
	}
	shown := second.door(t).series(t)[`muster_certificate_left_seconds{certificate="pdf"}`]
	if left, err := time.ParseDuration(shown + "s"); err != nil || left > 240*time.Hour || left < 239*time.Hour {
		t.Errorf("of a certificate's ten days there are %q seconds left, %v", shown, err)
	}
	i.must(t, "events", "verify")
}

// readable is a copy of a file that everybody may read.
func readable(t *testing.T, path string) string {
	t.Helper()
	copied := fileWith(t, "secret.key", string(read(t, path)))
	if err := os.Chmod(copied, 0o644); err != nil {
		t.Fatal(err)
	}
	return copied
}

// signsFor are the flags of a certificate for PDFs that ends in so many days.
func signsFor(t *testing.T, days int) []string {
	t.Helper()
	issuer := newRelay(t, "")
	issuer.shows(t, time.Now().Add(time.Duration(days)*24*time.Hour)) // a day of a zone may have another hour
	shown := issuer.shown.Load()
	private, err := x509.MarshalPKCS8PrivateKey(shown.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate := fileWith(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: shown.Certificate[0]})))
	key := fileWith(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	return []string{"--signing-cert-file", certificate, "--signing-key-file", key}
}
