package signing_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/attest"
	"muster/internal/attest/attesttest"
	"muster/internal/pgtest"
	"muster/internal/postgres/transact"
	"muster/internal/secrets"
	"muster/internal/signing"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// opened is a process on a database with a key file.
func opened(t *testing.T, db *sqlx.DB, keyFile string) *signing.Signing {
	t.Helper()
	ring, err := secrets.LoadOrCreate(keyFile)
	must(t, err)
	must(t, secrets.CheckKeys(t.Context(), db, ring))
	s, err := signing.Open(t.Context(), db, ring, nil)
	must(t, err)
	return s
}

func keysOf(t *testing.T, s *signing.Signing) attest.Keys {
	t.Helper()
	keys, err := s.Keys(t.Context())
	must(t, err)
	document, err := json.Marshal(keys)
	must(t, err)
	read, err := attest.ParseKeys(document)
	must(t, err)
	return read
}

func rotate(t *testing.T, db *sqlx.DB, keyFile string) {
	t.Helper()
	_, err := secrets.Rotate(t.Context(), db, keyFile, func(context.Context, *sqlx.Tx) (int, error) { return 0, nil }, func(secrets.Rotation) error { return nil })
	must(t, err)
}

// TestThePDFKeyIsTheSameInEveryProcess, to the last byte of its certificate, which OpenSSL
// takes.
func TestThePDFKeyIsTheSameInEveryProcess(t *testing.T) {
	t.Parallel()
	db, file := pgtest.DB(t), filepath.Join(t.TempDir(), "secret.key")
	first, err := opened(t, db, file).PDFSigner()
	must(t, err)
	second, err := opened(t, db, file).PDFSigner()
	must(t, err)
	c := first.Chain[0]
	if !bytes.Equal(c.Raw, second.Chain[0].Raw) {
		t.Errorf("two processes have two certificates")
	}
	if want := "CN=Muster " + opened(t, db, file).Installation()[:8]; c.Subject.String() != want || c.KeyUsage != x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment {
		t.Errorf("it is of %s, for %b", c.Subject, c.KeyUsage)
	}
	digest := sha256.Sum256([]byte("a PDF"))
	signature, err := first.Signer.Sign(nil, digest[:], crypto.SHA256)
	must(t, err)
	public, ok := c.PublicKey.(*ecdsa.PublicKey)
	if !ok || !ecdsa.VerifyASN1(public, digest[:], signature) {
		t.Errorf("the key is not that of the certificate")
	}
	pemFile := filepath.Join(t.TempDir(), "c.pem")
	must(t, os.WriteFile(pemFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}), 0o600))
	if out, err := exec.CommandContext(t.Context(), "openssl", "verify", "-x509_strict", "-check_ss_sig", "-CAfile", pemFile, "-partial_chain", pemFile).CombinedOutput(); err != nil {
		t.Errorf("OpenSSL: %v\n%s", err, out)
	}
}

// TestKeysArePublished through a rotation and a retirement, with their dates.
func TestKeysArePublished(t *testing.T) {
	t.Parallel()
	db, file := pgtest.DB(t), filepath.Join(t.TempDir(), "secret.key")
	s := opened(t, db, file)
	must(t, s.Publish(t.Context()))
	must(t, s.Publish(t.Context()))
	before := keysOf(t, s)
	if len(before.Keys) != 5 || len(before.Of(attest.UseLog)) != len(eventstore.Logs) {
		t.Fatalf("%d keys: %+v", len(before.Keys), before)
	}
	rotate(t, db, file)
	during := keysOf(t, s) // by a process that was not told
	if len(during.Keys) != 10 || during.Keys[0].ID == before.Keys[0].ID || during.Keys[5].ID != before.Keys[0].ID {
		t.Fatalf("%d keys, the current ones first: %+v", len(during.Keys), during)
	}
	current := opened(t, db, file)
	ring, err := secrets.Load(file)
	must(t, err)
	must(t, transact.Once(t.Context(), db, nil, func(tx *sqlx.Tx) error { return signing.Retire(t.Context(), tx, ring.Fingerprint()) }))
	_, err = secrets.Retire(t.Context(), db, file, func(context.Context, *sqlx.Tx) (int, error) { return 0, nil }, func([]string) error { return nil })
	must(t, err)
	for i, k := range keysOf(t, current).Keys {
		if i < 5 != (k.ValidTo == nil) || !k.ValidFrom.Before(time.Now()) || k.ValidFrom.IsZero() {
			t.Errorf("key %d, %s of %s, is valid from %v to %v", i, k.ID, k.Use, k.ValidFrom, k.ValidTo)
		}
	}
}

// rotated is an installation whose key was rotated and retired, and the thief who has the
// old one.
func rotated(t *testing.T) (s *signing.Signing, old attest.Keys, thief *attesttest.Installation) {
	t.Helper()
	db, file := pgtest.DB(t), filepath.Join(t.TempDir(), "secret.key")
	s = opened(t, db, file)
	must(t, s.Publish(t.Context()))
	old = keysOf(t, s)
	stolen, err := secrets.Load(file)
	must(t, err)
	thief = &attesttest.Installation{T: t, Origin: s.Origin(eventstore.Reports), Log: stolen.Signer(), Report: stolen.ReportSigner()}
	rotate(t, db, file)
	s = opened(t, db, file)
	must(t, s.Publish(t.Context()))
	ring, err := secrets.Load(file)
	must(t, err)
	must(t, transact.Once(t.Context(), db, nil, func(tx *sqlx.Tx) error { return signing.Retire(t.Context(), tx, ring.Fingerprint()) }))
	_, err = secrets.Retire(t.Context(), db, file, func(context.Context, *sqlx.Tx) (int, error) { return 0, nil }, func([]string) error { return nil })
	must(t, err)
	return s, old, thief
}

// TestAThiefOfARetiredKey makes no report that holds, whatever date it has.
func TestAThiefOfARetiredKey(t *testing.T) {
	t.Parallel()
	s, old, thief := rotated(t)
	said := func(begin time.Time, trust attest.Trust) attest.Verdict {
		thief.Begin = begin.UTC().Truncate(time.Microsecond)
		verdict, steps := attest.Check(sha256.Sum256([]byte("%PDF")), thief.Prove([]byte("%PDF"), 3, 7), trust)
		t.Log(verdict, attest.FirstOff(steps))
		return verdict
	}
	retired := *keysOf(t, s).Of(attest.UseReport)[1].ValidTo
	if got := said(retired.Add(time.Minute), attest.Trust{Keys: keysOf(t, s)}); got != attest.Contradicted {
		t.Errorf("a report of after the retirement: %s", got)
	}
	if got := said(retired.Add(-time.Minute), attest.Trust{Keys: keysOf(t, s)}); got != attest.CannotTell {
		t.Errorf("a report that is dated back: %s", got)
	}
	if got := said(retired.Add(-time.Minute), attest.Trust{Keys: old}); got != attest.Holds {
		t.Errorf("by the keys of before: %s", got)
	}

	since := retired.Add(-time.Hour)
	revoked, err := s.Revoke(t.Context(), signing.Revocation{ID: old.Of(attest.UseReport)[0].ID, Since: since, Reason: "stolen"}, func([]attest.Key) error { return nil })
	if err != nil || len(revoked) != len(old.Keys) {
		t.Errorf("revoked are %d keys of %d: %v", len(revoked), len(old.Keys), err)
	}
	if got := said(retired.Add(-time.Minute), attest.Trust{Keys: keysOf(t, s)}); got != attest.CannotTell {
		t.Errorf("a report of after the theft: %s", got)
	}
	var refused *signing.RevocationError
	for name, r := range map[string]signing.Revocation{
		"a later time":    {ID: old.Of(attest.UseReport)[0].ID, Since: since.Add(time.Second)},
		"the current key": {ID: keysOf(t, s).Of(attest.UseLog)[0].ID, Since: since},
		"nobody's":        {ID: "x", Since: since},
	} {
		if _, err := s.Revoke(t.Context(), r, func([]attest.Key) error { return nil }); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Revoke(t.Context(), signing.Revocation{ID: old.Keys[0].ID, Since: since.Add(-time.Hour)}, func([]attest.Key) error { return nil }); err != nil {
		t.Errorf("an earlier time: %v", err)
	}
}

// TestWhoSignsWhatWasRecordedBefore a change of keys: an old key that is still there, and
// then none.
func TestWhoSignsWhatWasRecordedBefore(t *testing.T) {
	t.Parallel()
	db, file := pgtest.DB(t), filepath.Join(t.TempDir(), "secret.key")
	s := opened(t, db, file)
	must(t, s.Publish(t.Context()))
	first := keysOf(t, s).Of(attest.UseReport)[0]
	db.MustExec(`UPDATE published_keys SET valid_from = valid_from - interval '1 day'`)
	rotate(t, db, file)
	second := keysOf(t, s).Of(attest.UseReport)[0]
	for name, test := range map[string]struct {
		at   time.Time
		want attest.Key
		ok   bool
	}{
		"after the rotation":                 {second.ValidFrom.Add(time.Minute), second, true},
		"a minute before, while it was made": {second.ValidFrom.Add(-time.Minute), second, true},
		"an hour before":                     {second.ValidFrom.Add(-time.Hour), first, true},
		"before all keys":                    {second.ValidFrom.AddDate(0, 0, -2), second, false},
	} {
		key, ok, err := s.ReportSigner(t.Context(), test.at)
		must(t, err)
		public, _ := key.Public().(ed25519.PublicKey)
		if got, err := attest.ReportKey(public, time.Time{}); err != nil || got.ID != test.want.ID || ok != test.ok {
			t.Errorf("%s: key %s, %v, want %s", name, got.ID, ok, test.want.ID)
		}
	}
}

// TestKeysThatSignAreNotThoseOfTheTable: whoever has the database cannot publish others.
func TestKeysThatSignAreNotThoseOfTheTable(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := opened(t, db, filepath.Join(t.TempDir(), "secret.key"))
	must(t, s.Publish(t.Context()))
	before := keysOf(t, s)
	other, err := secrets.LoadOrCreate(filepath.Join(t.TempDir(), "secret.key"))
	must(t, err)
	stranger, err := signing.Open(t.Context(), db, other, nil)
	must(t, err)
	for _, k := range keysOf(t, stranger).Keys {
		db.MustExec(`UPDATE published_keys SET public_key = $1, verifier_key = $2, certificate = $3, valid_to = now() WHERE use = $4 AND coalesce(split_part(verifier_key, '+', 1), '') = $5`,
			k.PublicKey, k.VerifierKey, k.Certificate, string(k.Use), strings.Split(k.VerifierKey, "+")[0])
	}
	got, err := s.Keys(t.Context())
	must(t, err)
	for i, k := range before.Keys {
		if have := got.Keys[i]; !bytes.Equal(have.PublicKey, k.PublicKey) || have.VerifierKey != k.VerifierKey || have.Certificate != k.Certificate || have.ValidTo != nil {
			t.Errorf("published is %+v, signed with %+v", have, k)
		}
	}
}

// TestAnOperatorsCertificate says what is wrong with one.
func TestAnOperatorsCertificate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	p521, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	must(t, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	certified := func(key any, public any, change func(*x509.Certificate)) []byte {
		c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "x"}, NotBefore: now.AddDate(-1, 0, 0), NotAfter: now.AddDate(1, 0, 0)}
		change(c)
		der, err := x509.CreateCertificate(rand.Reader, c, c, public, key)
		must(t, err)
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	keyPEM := func(key any) []byte {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		must(t, err)
		return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	}
	plain := func(*x509.Certificate) {}
	good := certified(p256, p256.Public(), plain)
	for name, tc := range map[string]struct {
		cert, key []byte
		want      string // empty: it is taken
	}{
		"good":          {good, keyPEM(p256), ""},
		"with a chain":  {append(bytes.Clone(good), certified(p521, p521.Public(), plain)...), keyPEM(p256), ""},
		"no PEM":        {[]byte("x"), keyPEM(p256), "failed to find any PEM data in certificate input"},
		"another key":   {good, keyPEM(p521), "private key does not match public key"},
		"ended":         {certified(p256, p256.Public(), func(c *x509.Certificate) { c.NotAfter = now.AddDate(0, 0, -1) }), keyPEM(p256), "ended on 2026-11-22"},
		"not begun":     {certified(p256, p256.Public(), func(c *x509.Certificate) { c.NotBefore = now.AddDate(0, 0, 1) }), keyPEM(p256), "begins on 2026-11-24"},
		"another curve": {certified(p521, p521.Public(), plain), keyPEM(p521), "P-521"},
		"Ed25519":       {certified(ed, ed.Public(), plain), keyPEM(ed), "Ed25519"},
		"another use":   {certified(p256, p256.Public(), func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyAgreement }), keyPEM(p256), "key usage"},
	} {
		dir := t.TempDir()
		cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
		must(t, os.WriteFile(cert, tc.cert, 0o600))
		must(t, os.WriteFile(key, tc.key, 0o600))
		got, err := signing.LoadCertificate(cert, key, func() time.Time { return now })
		if tc.want == "" {
			must(t, err)
			if len(got.Chain) != strings.Count(string(tc.cert), "BEGIN") {
				t.Errorf("%s: %d certificates", name, len(got.Chain))
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestACertificateThatEndsMeanwhile signs no more: what it signed would be good for nobody.
func TestACertificateThatEndsMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if out, err := exec.CommandContext(t.Context(), "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
		"-subj", "/CN=ours", "-days", "30", "-keyout", key, "-out", cert).CombinedOutput(); err != nil {
		t.Fatalf("openssl: %v\n%s", err, out)
	}
	now := time.Now()
	own, err := signing.LoadCertificate(cert, key, func() time.Time { return now })
	must(t, err)
	ring, err := secrets.LoadOrCreate(filepath.Join(dir, "secret.key"))
	must(t, err)
	s, err := signing.Open(t.Context(), pgtest.DB(t), ring, own)
	must(t, err)
	_, err = s.PDFSigner()
	must(t, err)
	now = now.AddDate(0, 0, 31)
	var ended *signing.CertificateError
	if _, err := s.PDFSigner(); !errors.As(err, &ended) || ended.CertFile != cert || !strings.Contains(err.Error(), "ended on") {
		t.Errorf("it signs: %v", err)
	}
}
