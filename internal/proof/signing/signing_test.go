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
	"flag"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/postgres/transact"
	"muster/internal/proof/attest"
	"muster/internal/proof/attest/attesttest"
	"muster/internal/proof/signing"
	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// opened is a process on a database with a key file, and with other directories.
func opened(t *testing.T, db *sqlx.DB, keyFile string, dirs ...string) *signing.Signing {
	t.Helper()
	ring, err := secrets.LoadOrCreate(keyFile)
	must(t, err)
	must(t, secrets.CheckKeys(t.Context(), db, ring))
	s, err := signing.Open(t.Context(), db, ring, nil, dirs...)
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
	if len(before.Keys) != 6 || len(before.Of(attest.UseLog)) != len(eventstore.Logs) {
		t.Fatalf("%d keys: %+v", len(before.Keys), before)
	}
	rotate(t, db, file)
	during := keysOf(t, s) // by a process that was not told
	if len(during.Keys) != 12 || during.Keys[0].ID == before.Keys[0].ID || during.Keys[6].ID != before.Keys[0].ID {
		t.Fatalf("%d keys, the current ones first: %+v", len(during.Keys), during)
	}
	current := opened(t, db, file)
	must(t, transact.Once(t.Context(), db, nil, func(tx *sqlx.Tx) error { return s.Retire(t.Context(), tx) }))
	_, err := secrets.Retire(t.Context(), db, file, func(context.Context, *sqlx.Tx) (int, error) { return 0, nil }, func([]string) error { return nil })
	must(t, err)
	for i, k := range keysOf(t, current).Keys {
		if i < 6 != (k.ValidTo == nil) || !k.ValidFrom.Before(time.Now()) || k.ValidFrom.IsZero() {
			t.Errorf("key %d, %s of %s, is valid from %v to %v", i, k.ID, k.Use, k.ValidFrom, k.ValidTo)
		}
	}
}

// TestAProcessWithAnOldKeyFile appends nothing to the log of the keys, and returns no document
// that lacks the later history of its key: two such processes would begin the log anew in
// turns.
func TestAProcessWithAnOldKeyFile(t *testing.T) {
	t.Parallel()
	db, dir := pgtest.DB(t), t.TempDir()
	file, copied := filepath.Join(dir, "secret.key"), filepath.Join(dir, "copy.key")
	must(t, opened(t, db, file).Publish(t.Context()))
	key, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(copied, key, 0o600))
	old := opened(t, db, copied)
	rotate(t, db, file)
	s := opened(t, db, file)
	must(t, s.Publish(t.Context()))
	must(t, transact.Once(t.Context(), db, nil, func(tx *sqlx.Tx) error { return s.Retire(t.Context(), tx) }))
	_, err = secrets.Retire(t.Context(), db, file, func(context.Context, *sqlx.Tx) (int, error) { return 0, nil }, func([]string) error { return nil })
	must(t, err)

	before := keysOf(t, s)
	var rotated *secrets.RotatedError
	for range 2 {
		if err := old.Publish(t.Context()); !errors.As(err, &rotated) {
			t.Errorf("it publishes: %v", err)
		}
		if document, err := old.Published(t.Context()); !errors.As(err, &rotated) {
			t.Errorf("it hands out %+v, %v", document, err)
		}
		if after := keysOf(t, s); after.Head != before.Head {
			t.Errorf("the log was at %s, and is at %s", before.Head, after.Head)
		}
	}
}

// TestReadingTheKeysAppendsNothing to the log, and has it read once in some seconds.
func TestReadingTheKeysAppendsNothing(t *testing.T) {
	t.Parallel()
	db, file := pgtest.DB(t), filepath.Join(t.TempDir(), "secret.key")
	s := opened(t, db, file)
	events := func() (n int) {
		t.Helper()
		must(t, db.Get(&n, `SELECT count(*) FROM events WHERE log = 'keys'`))
		return n
	}
	var history *signing.HistoryError
	if _, err := s.Published(t.Context()); !errors.As(err, &history) || events() != 0 {
		t.Errorf("of an empty log it publishes %d events, %v", events(), err)
	}
	must(t, s.Publish(t.Context()))
	before, err := s.Published(t.Context())
	must(t, err)
	if diff := cmp.Diff(keysOf(t, s), before); diff != "" || !before.SignedBy(before) {
		t.Errorf("it is not the document (-want +got):\n%s", diff)
	}

	rotate(t, db, file) // and nothing is published yet
	for _, what := range []struct {
		of   *signing.Signing
		want string
	}{{s, "what is kept"}, {opened(t, db, file), "what the log has"}} {
		after, err := what.of.Published(t.Context())
		must(t, err)
		if len(after.Keys) != len(before.Keys) || !after.SignedBy(before) || events() != 1 {
			t.Errorf("%s: %d keys, signed by one of before: %v, %d events", what.want, len(after.Keys), after.SignedBy(before), events())
		}
	}

	must(t, opened(t, db, file).Publish(t.Context()))
	if kept, err := s.Published(t.Context()); err != nil || len(kept.Keys) != len(before.Keys) {
		t.Errorf("the log was read again at once: %d keys, %v", len(kept.Keys), err)
	}
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		after, err := s.Published(t.Context())
		must(t, err)
		if len(after.Keys) == 2*len(before.Keys) {
			break
		}
		if time.Since(began) > 2*signing.PublishedAge {
			t.Fatalf("after %s it has %d keys", time.Since(began), len(after.Keys))
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
	must(t, transact.Once(t.Context(), db, nil, func(tx *sqlx.Tx) error { return s.Retire(t.Context(), tx) }))
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

// TestTheKeyForEventsFromBeforeARotation is the old key while it is still there, and then none.
func TestTheKeyForEventsFromBeforeARotation(t *testing.T) {
	t.Parallel()
	db, file := pgtest.DB(t), filepath.Join(t.TempDir(), "secret.key")
	s := opened(t, db, file)
	ours := reportKey(t, file)
	db.MustExec(`INSERT INTO published_keys (id, use, algorithm, public_key, fingerprint, valid_from) VALUES ($1, $2, $3, $4, 'x', now() - interval '1 day')`,
		ours.ID, string(ours.Use), ours.Algorithm, ours.PublicKey)
	must(t, s.Publish(t.Context()))
	first := keysOf(t, s).Of(attest.UseReport)[0]
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

// TestOneInsertPublishesNothing: neither rows of the earlier table, nor an event that is not
// signed by our keys, nor a rewritten log.
func TestOneInsertPublishesNothing(t *testing.T) {
	t.Parallel()
	db, file := pgtest.DB(t), filepath.Join(t.TempDir(), "secret.key")
	s := opened(t, db, file)
	must(t, s.Publish(t.Context()))
	before := keysOf(t, s)
	forger := attesttest.New(t, "forger")
	forger.Origin, forger.Begin = s.Origin(eventstore.Reports), time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	proof := forger.Prove([]byte("%PDF"), 1, 1)
	holds := func(what string) {
		t.Helper()
		keys := keysOf(t, s)
		if verdict, steps := attest.Check(sha256.Sum256([]byte("%PDF")), proof, attest.Trust{Keys: keys}); verdict != attest.CannotTell {
			t.Errorf("%s: the forged report %s: %+v", what, verdict, steps)
		}
		for i, k := range before.Keys {
			if had := keys.Keys[i]; !bytes.Equal(had.PublicKey, k.PublicKey) || !had.ValidFrom.Equal(k.ValidFrom) || had.ValidTo != nil {
				t.Errorf("%s: published is %+v, signed with %+v", what, had, k)
			}
		}
		if again := keysOf(t, s); !again.SignedBy(before) || again.Head != keys.Head {
			t.Errorf("%s: the document is %+v", what, again)
		}
	}
	holds("nothing")

	for _, k := range forger.Keys().Keys {
		db.MustExec(`INSERT INTO published_keys (id, use, algorithm, public_key, verifier_key, fingerprint, valid_from, valid_to)
			VALUES ($1, $2, $3, $4, nullif($5, ''), 'x', '2025-01-01', NULL)`, k.ID, string(k.Use), k.Algorithm, k.PublicKey, k.VerifierKey)
	}
	holds("rows of the table")

	id := forger.Keys().Of(attest.UseReport)[0].ID
	signs := func(eventType string) []byte { // as the program does, by the forger's own key
		change, err := json.Marshal(map[string]any{"installation": s.Installation(), "keys": forger.Keys().Keys})
		must(t, err)
		signature := ed25519.Sign(forger.Report, fmt.Appendf(nil, "muster-key-change-1\n%s\n%s\n", eventType, change))
		data, err := json.Marshal(map[string]any{"change": json.RawMessage(change), "signatures": []any{map[string]any{"keyId": id, "signature": signature}}})
		must(t, err)
		return data
	}
	appended := func(eventType string) {
		t.Helper()
		id := uuid.MustParse(s.Installation())
		_, err := eventstore.New(db).Append(t.Context(), eventstore.Keys, eventstore.Append{
			Organization: id, StreamType: "keys", Stream: id, Expected: eventstore.AnyVersion, Events: []eventstore.NewEvent{{Type: eventType, Data: signs(eventType)}},
		})
		must(t, err)
	}
	for _, eventType := range []string{"keys.added", "keys.retired", "keys.made", "keys.found", "keys.of a later day"} {
		appended(eventType)
		holds("an event " + eventType)
	}
	pgtest.Unguard(t, db)
	db.MustExec(`UPDATE events SET data = convert_to(replace(convert_from(data, 'UTF8'), '"validFrom":"2', '"validFrom":"1'), 'UTF8') WHERE log = 'keys'`)
	keys := keysOf(t, s)
	if len(keys.Keys) != len(before.Keys) || !keys.SignedBy(before) {
		t.Errorf("of a log that was changed it publishes %+v", keys)
	}

	// Without the log, the table would be taken over, if there were no checkpoint beside the
	// key, or in the data directory if the key's directory is read-only.
	data := t.TempDir()
	s = opened(t, db, file, data)
	for _, dir := range []string{filepath.Dir(file), data} {
		db.MustExec(`DELETE FROM events WHERE log = 'keys'`)
		db.MustExec(`DELETE FROM streams WHERE log = 'keys'`)
		db.MustExec(`UPDATE log_head SET position = 0, hash = decode(repeat('00', 32), 'hex') WHERE log = 'keys'`)
		last := signing.LastFile(dir, file, eventstore.Keys)
		must(t, os.WriteFile(last, []byte("a checkpoint"), 0o600))
		if verdict, _ := attest.Check(sha256.Sum256([]byte("%PDF")), proof, attest.Trust{Keys: keysOf(t, s)}); verdict != attest.CannotTell {
			t.Errorf("with the log gone and %s there the forged report %s", last, verdict)
		}
		must(t, os.Remove(last))
	}
}

// reportKey is the key that comes from a key file.
func reportKey(t *testing.T, file string) attest.Key {
	t.Helper()
	ring, err := secrets.Load(file)
	must(t, err)
	public, _ := ring.ReportSigner().Public().(ed25519.PublicKey)
	key, err := attest.ReportKey(public, time.Time{})
	must(t, err)
	return key
}

// TestKeysFromBeforeTheLog are taken over once, as they were published, and the event says that they were not
// signed.
func TestKeysFromBeforeTheLog(t *testing.T) {
	t.Parallel()
	db, file := pgtest.DB(t), filepath.Join(t.TempDir(), "secret.key")
	s := opened(t, db, file)
	from, to := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	old := attesttest.New(t, "old")
	for _, k := range old.Keys().Keys {
		db.MustExec(`INSERT INTO published_keys (id, use, algorithm, public_key, verifier_key, fingerprint, valid_from, valid_to, revoked_at, reason)
			VALUES ($1, $2, $3, $4, nullif($5, ''), 'old', $6, $7, $7, 'lost')`, k.ID, string(k.Use), k.Algorithm, k.PublicKey, k.VerifierKey, from, to)
	}
	ours := reportKey(t, file)
	db.MustExec(`INSERT INTO published_keys (id, use, algorithm, public_key, fingerprint, valid_from) VALUES ($1, $2, $3, $4, 'x', $5)`, ours.ID, string(ours.Use), ours.Algorithm, ours.PublicKey, from)
	keys := keysOf(t, s)
	if got := keys.Of(attest.UseReport); len(got) != 2 || got[0].ID != ours.ID || !got[0].ValidFrom.Equal(from) || got[1].ID != old.Keys().Of(attest.UseReport)[0].ID ||
		!got[1].ValidTo.Equal(to) || !got[1].RevokedAt.Equal(to) || got[1].Reason != "lost" {
		t.Errorf("published are %+v", got)
	}
	var types []string
	must(t, db.Select(&types, `SELECT type FROM events WHERE log = 'keys'`))
	if len(types) != 1 || types[0] != "keys.found" {
		t.Errorf("the log has %v", types)
	}
}

// TestTheLogOfTheKeys has an event for each change, and is whole.
func TestTheLogOfTheKeys(t *testing.T) {
	t.Parallel()
	s, old, _ := rotated(t)
	_, err := s.Revoke(t.Context(), signing.Revocation{ID: old.Keys[0].ID, Since: time.Now().UTC().Truncate(time.Second), Reason: "stolen"}, func([]attest.Key) error { return nil })
	must(t, err)
	keys := keysOf(t, s)
	if !strings.HasPrefix(keys.Head, "keys:4:") || keys.SignedBy(old) == keys.SignedBy(attest.Keys{Keys: keys.Keys[:6]}) {
		t.Errorf("the document is %+v", keys)
	}
	forged := keys
	forged.Keys = slices.Clone(keys.Keys)
	forged.Keys[len(forged.Keys)-1].RevokedAt = nil
	if forged.SignedBy(keys) {
		t.Error("the signature leaves revocations out")
	}
}

var writeEvents = flag.Bool("write-events", false, "write the events that are kept as examples anew")

// TestStoredKeyEvents: later versions read the events of earlier ones, to the last signature.
func TestStoredKeyEvents(t *testing.T) {
	t.Parallel()
	type stored struct {
		Installation string
		Events       []struct {
			Type string
			Data json.RawMessage
		}
	}
	const path = "testdata/keys.json"
	if *writeEvents {
		s, old, _ := rotated(t)
		_, err := s.Revoke(t.Context(), signing.Revocation{ID: old.Keys[0].ID, Since: time.Now().UTC().Truncate(time.Second), Reason: "stolen <at night> & found"}, func([]attest.Key) error { return nil })
		must(t, err)
		file := stored{Installation: s.Installation()}
		for e, err := range eventstore.New(s.DB()).Read(t.Context(), eventstore.Keys, eventstore.Filter{}) {
			must(t, err)
			file.Events = append(file.Events, struct {
				Type string
				Data json.RawMessage
			}{e.Type, e.Data})
		}
		var text bytes.Buffer
		to := json.NewEncoder(&text)
		to.SetEscapeHTML(false)
		must(t, to.Encode(file))
		must(t, os.WriteFile(path, text.Bytes(), 0o644))
	}
	text, err := os.ReadFile(path)
	must(t, err)
	var file stored
	must(t, json.Unmarshal(text, &file))
	var events []eventstore.Event
	var types []string
	for _, e := range file.Events {
		events, types = append(events, eventstore.Event{Log: eventstore.Keys, Type: e.Type, Data: e.Data}), append(types, e.Type)
	}
	keys, err := signing.Fold(file.Installation, events)
	must(t, err)
	revoked := 0
	for _, k := range keys {
		if k.ValidTo != nil && k.RevokedAt != nil && k.Reason != "" {
			revoked++
		}
	}
	if len(keys) != 12 || revoked != 6 || !slices.Equal(types, []string{"keys.made", "keys.rotated", "keys.retired", "keys.revoked"}) {
		t.Errorf("%v are %d keys, of which %d are revoked", types, len(keys), revoked)
	}
	for n := range events {
		changed := slices.Clone(events)
		changed[n].Data = bytes.Replace(changed[n].Data, []byte("20"), []byte("21"), 1)
		if _, err := signing.Fold(file.Installation, changed); err == nil {
			t.Errorf("event %d can be changed", n)
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

// TestAnExpiredCertificateDoesNotSign: its signatures would be worthless.
func TestAnExpiredCertificateDoesNotSign(t *testing.T) {
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
