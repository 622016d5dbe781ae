package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/proof/attest"
	"muster/internal/proof/prooftest"
	"muster/internal/testing/pgtest"
)

// keptOutside is what an auditor keeps outside of an installation.
type keptOutside struct {
	keys       string   // file of public keys
	checkpoint string   // file of a signed checkpoint
	witness    string   // log:position:hash, of before the reports
	mails      []string // the witness in each report's mail
	pdf, proof []string // files of each report
	consistent string   // file: what leads from the first report's tree to that of the checkpoint
}

// attack is something that somebody does, and what each tool then says.
type attack struct {
	who, what string
	sql       func(*sqlx.DB) // by whoever has the database
	file      string         // that is then checked
	beside    string         // a proof.json beside it
	keys      string         // other than the kept ones
	verify    int            // exit statuses
	offline   int
	says      string // in what offline prints
	witness   int    // events verify --witness with the kept checkpoint and the mails' witnesses
	pdfsig    string // its words
}

// The words of pdfsig.
const (
	sigValid   = "valid, whole file"
	sigPart    = "valid, not the whole file"
	sigInvalid = "invalid"
	sigNone    = "no signature"
)

// TestAttacks is the table of docs/auditors.md: who does what, and who sees it.
func TestAttacks(t *testing.T) {
	t.Parallel()
	h := newReported(t)
	h.serves(t)
	outside, ids := h.keeps(t)
	h.server.stop(t)
	db := pgtest.Connect(t, h.url)
	db.SetMaxOpenConns(1)
	tables := []string{"events", "log_head", "log_tiles", "log_checkpoints", "report_proofs", "published_keys", "report_history_v2.reports"}
	db.MustExec(`SET session_replication_role = replica`) // no trigger stands in an owner's way
	for i, table := range tables {
		db.MustExec(fmt.Sprintf(`CREATE TABLE kept_%d AS TABLE %s`, i, table))
	}
	signed, other := read(t, outside.pdf[0]), read(t, outside.pdf[1])
	base := h.base(t, ids[0])
	update := signed[len(base):]
	otherBase := h.base(t, ids[1])
	file := func(name string, parts ...[]byte) string {
		return fileWith(t, name+".pdf", string(bytes.Join(parts, nil)))
	}
	t.Run("a checkpoint that was kept", outside.goesOn)
	var forgery forgery
	t.Run("an installation of somebody else", func(t *testing.T) { forgery = forge(t) })

	published := filepath.Join(t.TempDir(), "published.json")
	documented := readText(t, "docs/auditors.md")
	for i, a := range []attack{
		{who: "nobody", what: "nothing", file: outside.pdf[0], pdfsig: sigValid, says: "as it was built"},
		{who: "nobody", what: "the PDF as it was built, with its proof beside it", file: file("base", base), beside: outside.proof[0], pdfsig: sigNone, says: "as it was built"},

		{who: "database", what: "`report.ready` changed and all later hashes computed again; the forged PDF", sql: rewritten(t, ids[0], base), file: file("forged", forged), beside: outside.proof[0],
			verify: 1, offline: 1, says: "not the one that the proof names", witness: 1, pdfsig: sigNone},
		{who: "database", what: "the same; the genuine PDF", sql: rewritten(t, ids[0], base), file: outside.pdf[0],
			verify: 1, says: "as it was built", witness: 1, pdfsig: sigValid},
		{who: "database", what: "a recipient and their mail removed, the chain computed again, later checkpoints deleted", sql: unmailed(t, ids[0]), file: outside.pdf[0],
			verify: 1, says: "as it was built", witness: 1, pdfsig: sigValid},
		{who: "database", what: "the last report's events cut off, with the head", sql: truncated(ids[1]), file: outside.pdf[1],
			verify: 1, says: "as it was built", witness: 1, pdfsig: sigValid},
		{who: "database", what: "a report's stream deleted", sql: deleted(ids[0]), file: outside.pdf[0],
			verify: 1, says: "as it was built", witness: 1, pdfsig: sigValid},
		{who: "database", what: "the proof of a report deleted", sql: func(db *sqlx.DB) { db.MustExec(`DELETE FROM report_proofs WHERE report_id = $1`, ids[0]) }, file: outside.pdf[0],
			verify: 1, says: "as it was built", pdfsig: sigValid},
		{who: "database", what: "a report appended with a date of last year, with chain and history", sql: backdated(t, ids[0], base), file: file("backdated", forged),
			verify: 1, offline: 3, says: "There is no proof", witness: 1, pdfsig: sigNone},
		{who: "database", what: "a report appended with today's date, with chain and history", sql: appended(t, ids[0], base), file: file("appended-today", forged),
			verify: 1, offline: 3, says: "There is no proof", pdfsig: sigNone},
		{who: "database", what: "keys swapped in the list; a PDF signed with the new ones, against kept keys", sql: swapped, file: file("theirs", forgery.pdf), verify: 1, offline: 3, says: "None of the given keys", pdfsig: sigValid},
		{who: "database", what: "the same, against the swapped list", sql: swapped, file: file("theirs", forgery.pdf), keys: fileWith(t, "their-keys.json", string(forgery.keys)), verify: 1, says: "as it was built", pdfsig: sigValid},

		{who: "database", what: "a key added to the list; a PDF signed with it, against the keys published after that", sql: h.inserted(t, forgery.keys, published), file: file("theirs", forgery.pdf), keys: published,
			verify: 1, offline: 3, says: "None of the given keys", pdfsig: sigValid},

		{who: "PDF", what: "a byte of a page changed", file: file("changed", bytes.Replace(signed, []byte("stream\n"), []byte("Stream\n"), 1)), verify: 1, offline: 1, says: "is not valid", pdfsig: sigInvalid},
		{who: "PDF", what: "the signed update cut off", file: file("stripped", base), offline: 3, says: "There is no proof", pdfsig: sigNone},
		{who: "PDF", what: "a second update appended", file: file("appended", signed, update), verify: 1, offline: 1, says: "changed after it was signed", pdfsig: sigPart},
		{who: "PDF", what: "the update replaced by another report's", file: file("moved", base, other[len(otherBase):]), verify: 1, offline: 1, says: "changed after it was signed", pdfsig: sigInvalid},
		{who: "PDF", what: "another report's proof beside it", file: outside.pdf[0], beside: outside.proof[1], offline: 1, says: "a different report", pdfsig: sigValid},
		{who: "PDF", what: "Muster's footer copied to a foreign PDF", file: file("imitated", []byte("%PDF-1.4\n% "+outside.witness+"\n%%EOF\n")), verify: 1, offline: 3, says: "There is no proof", pdfsig: sigNone},
	} {
		row := fmt.Sprintf("| %s | %s | %d | %d | %d | %s |", a.who, a.what, a.verify, a.offline, a.witness, a.pdfsig)
		if !strings.Contains(documented, row) {
			t.Errorf("docs/auditors.md does not have the row\n%s", row)
		}
		t.Run(a.who+", "+a.what, func(t *testing.T) {
			if a.sql != nil {
				a.sql(db)
				defer func() {
					for i, table := range tables {
						db.MustExec(`DELETE FROM ` + table)
						db.MustExec(fmt.Sprintf(`INSERT INTO %s SELECT * FROM kept_%d`, table, i))
					}
				}()
			}
			h.holds(t, a, outside)
			// What only a file is changed for leaves the log as the first row found it.
			if a.sql == nil && i > 0 {
				if a.witness != 0 {
					t.Error("nobody has changed the log")
				}
				return
			}
			if got := h.passesWitnesses(t, outside); got != a.witness {
				t.Errorf("events verify with what was kept ends with %d, want %d", got, a.witness)
			}
		})
	}
}

// keeps keeps what an auditor would of two reports, each as they get it.
func (h reported) keeps(t *testing.T) (k keptOutside, ids []uuid.UUID) {
	t.Helper()
	ids = []uuid.UUID{h.security, h.scorecard}
	k.witness = h.witness
	for _, id := range ids {
		_, pdf := h.ana.download(t, id)
		document := h.ana.get(t, "/api/v1/reports/"+id.String()+"/proof", nil).body
		ready := h.events(t, "--stream", id.String(), "--type", "report.ready")[0]
		k.pdf = append(k.pdf, pdf)
		k.proof = append(k.proof, fileWith(t, "proof.json", string(document)))
		k.mails = append(k.mails, fmt.Sprintf("reports:%d:%s", ready.Position, ready.Hash))
	}
	keys := client{base: h.server.base}.get(t, "/.well-known/muster-keys.json", nil).body
	k.keys = fileWith(t, "muster-keys.json", string(keys))
	k.checkpoint = fileWith(t, "checkpoint", string(h.ana.get(t, "/proof/reports/checkpoint", nil).body))
	first, err := attest.ParseProof(read(t, k.proof[0]))
	if err != nil {
		t.Fatal(err)
	}
	of, err := first.Tree()
	if err != nil {
		t.Fatal(err)
	}
	k.consistent = fileWith(t, "consistency.json", string(h.ana.get(t, fmt.Sprintf("/proof/reports/consistency?from=%d", of.Size), nil).body))
	return k, ids
}

// goesOn holds the first report against the checkpoint that was kept later: with what leads to
// it, without, with another root, and with the other report beside it.
func (k keptOutside) goesOn(t *testing.T) {
	lines := strings.SplitN(string(read(t, k.checkpoint)), "\n", 4)
	lines[2] = base64.StdEncoding.EncodeToString(make([]byte, 32))
	changed := fileWith(t, "changed", strings.Join(lines, "\n"))
	for name, tc := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"with the proof":       {[]string{"--checkpoint", k.checkpoint, "--consistency", k.consistent, k.pdf[0]}, 0, "held       kept"},
		"without":              {[]string{"--checkpoint", k.checkpoint, k.pdf[0]}, 3, "/proof/reports/consistency?from="},
		"another root":         {[]string{"--checkpoint", changed, "--consistency", k.consistent, k.pdf[0]}, 1, "the log was changed, or it has two histories"},
		"the report before":    {[]string{"--checkpoint", k.pdf[0], k.pdf[1]}, 0, "held       kept"},
		"both at once":         {k.pdf, 0, "as it was built"},
		"no checkpoint at all": {[]string{"--checkpoint", k.consistent, k.pdf[0]}, 3, "--checkpoint: "},
	} {
		if got := muster(t, append([]string{"verify", "--offline", "--keys", k.keys}, tc.args...)...); got.status != tc.status || !strings.Contains(got.out+got.errors, tc.says) {
			t.Errorf("%s: it ends with %d, want %d and %q: %s%s", name, got.status, tc.status, tc.says, got.out, got.errors)
		}
	}
}

// base is the PDF as it was built, from the store.
func (h house) base(t *testing.T, id uuid.UUID) []byte {
	t.Helper()
	return read(t, h.stored(t, id, thePDF))
}

// holds asks every tool.
func (h house) holds(t *testing.T, a attack, k keptOutside) {
	t.Helper()
	if got := h.muster(t, "verify", a.file); got.status != a.verify {
		t.Errorf("verify ends with %d, want %d: %s%s", got.status, a.verify, got.out, got.errors)
	}
	keys := k.keys
	if a.keys != "" {
		keys = a.keys
	}
	args := []string{"verify", "--offline", "--keys", keys, a.file}
	if a.beside != "" {
		args = append(args, "--proof", a.beside)
	}
	if got := muster(t, args...); got.status != a.offline || !strings.Contains(got.out, a.says) {
		t.Errorf("verify --offline ends with %d, want %d and %q: %s%s", got.status, a.offline, a.says, got.out, got.errors)
	}
	if got := pdfsig(t, a.file); got != a.pdfsig {
		t.Errorf("pdfsig says %s, want %s", got, a.pdfsig)
	}
}

// passesWitnesses is how events verify ends with the first of what an auditor kept that it finds fault with; 0: with
// all of it.
func (h house) passesWitnesses(t *testing.T, k keptOutside) int {
	t.Helper()
	for _, w := range append([]string{k.checkpoint, k.witness}, k.mails...) {
		if got := h.muster(t, "events", "verify", "--witness", w); got.status != 0 {
			return got.status
		}
	}
	return 0
}

// pdfsig is poppler's word on a file's signature.
func pdfsig(t *testing.T, file string) string {
	t.Helper()
	program, err := exec.LookPath("pdfsig")
	if err != nil {
		t.Skip("pdfsig is not installed (poppler-utils)")
	}
	out, _ := exec.CommandContext(t.Context(), program, "-nocert", file).CombinedOutput()
	said := string(out)
	switch {
	case !strings.Contains(said, "Signature Validation"):
		return sigNone
	case !strings.Contains(said, "Signature is Valid"):
		return sigInvalid
	case strings.Contains(said, "Total document signed"):
		return sigValid
	}
	return sigPart
}

var forged = []byte("%PDF-1.7\n% another report\n%%EOF\n")

// rewritten is the forty lines that this proof is against: another digest in Ready, the
// chain anew, and the history to it.
func rewritten(t *testing.T, report uuid.UUID, base []byte) func(*sqlx.DB) {
	return func(db *sqlx.DB) {
		digest := sum(forged)
		prooftest.Rewrite(t, db, report, sum(base), digest)
		db.MustExec(`UPDATE report_history_v2.reports SET pdf_sha256 = $2, file = jsonb_set(file, '{sha256}', to_jsonb($2::text)) WHERE id = $1`, report, digest)
		db.MustExec(`TRUNCATE log_tiles`)
	}
}

func backdated(t *testing.T, report uuid.UUID, base []byte) func(*sqlx.DB) {
	return func(db *sqlx.DB) { prooftest.Backdate(t, db, report, sum(base), sum(forged), 365*24*time.Hour) }
}

// appended is backdated by nothing: its events are recorded after all others.
func appended(t *testing.T, report uuid.UUID, base []byte) func(*sqlx.DB) {
	return func(db *sqlx.DB) { prooftest.Backdate(t, db, report, sum(base), sum(forged), -time.Hour) }
}

// truncated cuts the log off before a report, with all that was signed since.
func truncated(report uuid.UUID) func(*sqlx.DB) {
	return func(db *sqlx.DB) {
		var last int64
		if err := db.Get(&last, `SELECT min(position) - 1 FROM events WHERE log = 'reports' AND stream_id = $1`, report); err != nil {
			panic(err)
		}
		db.MustExec(`DELETE FROM events WHERE log = 'reports' AND position > $1`, last)
		db.MustExec(`UPDATE log_head SET position = $1, hash = (SELECT hash FROM events WHERE log = 'reports' AND position = $1) WHERE log = 'reports'`, last)
		db.MustExec(`DELETE FROM log_checkpoints WHERE log = 'reports' AND size > $1`, last)
		db.MustExec(`DELETE FROM report_history_v2.reports WHERE id = $1`, report)
	}
}

// unmailed takes the last mail out of a report, and every checkpoint after the report's own.
func unmailed(t *testing.T, report uuid.UUID) func(*sqlx.DB) {
	return func(db *sqlx.DB) {
		prooftest.Remove(t, db, report, "report.email_sent")
		db.MustExec(`DELETE FROM log_checkpoints WHERE log = 'reports'`)
		db.MustExec(`TRUNCATE log_tiles`)
	}
}

func deleted(report uuid.UUID) func(*sqlx.DB) {
	return func(db *sqlx.DB) { db.MustExec(`DELETE FROM events WHERE log = 'reports' AND stream_id = $1`, report) }
}

// swapped puts other keys into the list of published ones.
func swapped(db *sqlx.DB) {
	db.MustExec(`UPDATE published_keys SET public_key = decode($1, 'hex')`, hex.EncodeToString([]byte("another key")))
}

// inserted puts keys into the list of published ones, and keeps what is published then.
func (h house) inserted(t *testing.T, document []byte, published string) func(*sqlx.DB) {
	return func(db *sqlx.DB) {
		keys, err := attest.ParseKeys(document)
		if err != nil {
			t.Error(err)
		}
		for _, k := range keys.Keys {
			db.MustExec(`INSERT INTO published_keys (id, use, algorithm, public_key, verifier_key, certificate, fingerprint, valid_from)
				VALUES ($1, $2, $3, $4, nullif($5, ''), nullif($6, ''), 'x', '2025-01-01')`, k.ID, string(k.Use), k.Algorithm, k.PublicKey, k.VerifierKey, k.Certificate)
		}
		if err := os.WriteFile(published, []byte(h.must(t, "keys", "export")), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// forgery is what somebody makes with an installation of their own.
type forgery struct{ pdf, keys []byte }

func forge(t *testing.T) forgery {
	t.Helper()
	theirs := newHouse(t)
	id := theirs.done(t, security(theirs.live))
	got, _ := theirs.ana.download(t, id)
	keys := client{base: theirs.server.base}.get(t, "/.well-known/muster-keys.json", nil).body
	theirs.server.stop(t)
	return forgery{pdf: got.body, keys: keys}
}
