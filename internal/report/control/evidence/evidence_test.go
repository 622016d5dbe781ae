package evidence_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/eventstore"
	"muster/internal/assessment"
	"muster/internal/proof/attest"
	"muster/internal/report/control"
	"muster/internal/report/control/evidence"
)

var (
	from = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	dana = uuid.UUID{15: 9}
)

// quarter is three months of some servers, one of them called like a formula.
func quarter(servers int) evidence.Document {
	to := from.AddDate(0, 3, 0)
	head := func(log eventstore.Log, n int64) eventstore.Head {
		return eventstore.Head{Log: log, Position: n, Hash: bytes.Repeat([]byte{0xab}, 32)}
	}
	x := control.Exception{ID: uuid.UUID{15: 7}, From: from.AddDate(0, 1, 0), To: from.AddDate(0, 1, 20)}
	revoked := from.AddDate(0, 1, 20)
	e := control.Evidence{
		From: from, To: to, AsOf: to.Add(time.Hour), Fleet: head(eventstore.Fleet, 9000), Organization: head(eventstore.Organization, 70),
		Exceptions: []control.Granted{{Exception: x, Reason: "=legacy\u0085 \U0001F680 <client>", Until: to, RequestedBy: dana, GrantedBy: dana, RevokedBy: &dana, RevokedAt: &revoked, GrantedIn: 12, RevokedIn: 20}},
	}
	about := evidence.About{
		Keys:         strings.Repeat("5b", 32),
		Organization: evidence.Named{ID: uuid.UUID{15: 1}, Name: "Example AG"}, People: map[uuid.UUID]string{dana: "Dana Example"},
		Check: evidence.Control{ID: "PG-S17", Title: "Everybody may create objects in schema public", Engine: "postgresql", Severity: "High", Catalogue: "7", SHA256: strings.Repeat("cd", 32)},
	}
	for s := range servers {
		var looks []control.Look
		for at, n := from.Add(time.Duration(s)*time.Hour), 0; at.Before(to); at, n = at.Add(6*time.Hour), n+1 {
			if (n/40+s)%7 == 3 && s%2 == 0 { // ten days without an assessment
				continue
			}
			a := assessment.Answer{Status: "pass"}
			switch {
			case s%3 == 1 && n > 150 && n < 260, s == 2 && n == 30:
				a = assessment.Answer{Status: "fail", Failing: 1}
			case s == 3 && n > 300:
				a = assessment.Answer{Status: "not_assessed", Reason: "The monitoring role may not read pg_hba_file_rules."}
			}
			l := control.Look{ID: uuid.UUID{0: byte(s), 14: byte(n >> 8), 15: byte(n)}, At: at, Answers: []assessment.Answer{a}}
			l.SHA256 = strings.Repeat(fmt.Sprintf("%02x", byte(n)), 32)
			if n%4 == 0 {
				l.Event, l.RecordedAt = int64(n), at
			}
			looks = append(looks, l)
		}
		life := control.Life{{At: from.AddDate(0, -1, 0), Known: true, Alive: true}}
		if s == 4 {
			life = append(life, control.Turn{At: to.AddDate(0, 0, -9)})
		}
		e.Items = append(e.Items, control.Item{
			Instance: uuid.UUID{0: byte(s), 15: 2}, Name: []string{"orders-primary", "=cmd|' /C calc'!A0", "billing", "crm-eu-central-1-replica-with-a-long-name", "legacy", "hr"}[s%6],
			Removed: s == 4, Looks: looks, Course: control.Periods(from, to, life, looks, []control.Exception{x}),
		})
	}
	return evidence.New(e, about)
}

func key(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func keysOf(t *testing.T, all ...ed25519.PrivateKey) (keys attest.Keys) {
	t.Helper()
	for _, k := range all {
		named, err := attest.ReportKey(k.Public().(ed25519.PublicKey), from)
		if err != nil {
			t.Fatal(err)
		}
		keys.Keys = append(keys.Keys, named)
	}
	return keys
}

// TestSignedEvidence holds whatever happens to its white space, and nothing else.
func TestSignedEvidence(t *testing.T) {
	t.Parallel()
	document := quarter(3)
	signed, err := evidence.Sign(document, key(1))
	if err != nil {
		t.Fatal(err)
	}
	file, err := signed.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(file, []byte("\u0085")) || !bytes.Contains(file, []byte(`\u0085`)) || !bytes.Contains(file, []byte("<client>")) {
		t.Error("it moves a terminal, or cannot be read")
	}
	var squeezed bytes.Buffer
	if err := json.Compact(&squeezed, file); err != nil {
		t.Fatal(err)
	}
	replaced := func(from, to string) []byte {
		changed := bytes.Replace(file, []byte(from), []byte(to), 1)
		if bytes.Equal(changed, file) {
			t.Fatalf("there is no %s", from)
		}
		return changed
	}
	for name, c := range map[string]struct {
		file []byte
		keys attest.Keys
		want attest.Verdict
	}{
		"as written":          {file, keysOf(t, key(1)), attest.Holds},
		"without white space": {squeezed.Bytes(), keysOf(t, key(2), key(1)), attest.Holds},
		"a state":             {replaced(`"failed"`, `"passed"`), keysOf(t, key(1)), attest.Contradicted},
		"a time":              {replaced(`"asOf": "2026-10-01T01`, `"asOf": "2026-10-01T02`), keysOf(t, key(1)), attest.Contradicted},
		"a digest":            {replaced(strings.Repeat("04", 32), strings.Repeat("05", 32)), keysOf(t, key(1)), attest.Contradicted},
		"the signature":       {replaced(`"signature": "`, `"signature": "AAAA`), keysOf(t, key(1)), attest.Contradicted},
		"another key's name":  {replaced(signed.KeyID, "0123456789abcdef"), keysOf(t, key(2)), attest.CannotTell},
		"without its key":     {file, keysOf(t, key(2)), attest.CannotTell},
		"without any":         {file, attest.Keys{}, attest.CannotTell},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, d, err := evidence.Parse(c.file)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := evidence.Check(read, c.keys); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if d.Organization.Name != "Example AG" || len(d.Items) != 3 {
				t.Errorf("read %s with %d servers", d.Organization.Name, len(d.Items))
			}
		})
	}
	for name, file := range map[string]string{"nothing": "", "no JSON": "%PDF", "a proof": `{"format":"muster-proof-1"}`, "another format": `{"evidence":{"format":"x"}}`, "a list": "[]",
		"evidence twice":   string(replaced(`"evidence":`, `"evidence": {"format":"muster-evidence-1"}, "evidence":`)),
		"a state twice":    string(replaced(`"state":`, `"state": "passed", "state":`)),
		"in capitals, too": string(replaced(`"evidence":`, `"Evidence": {"format":"muster-evidence-1"}, "evidence":`)),
	} {
		var malformed *evidence.MalformedError
		if _, _, err := evidence.Parse([]byte(file)); !errors.As(err, &malformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEvidenceOfAKeyThatEnded: a thief with an old key makes none that holds.
func TestEvidenceOfAKeyThatEnded(t *testing.T) {
	t.Parallel()
	document := quarter(6)
	at := func(hours int) *time.Time { t := document.AsOf.Add(time.Duration(hours) * time.Hour); return &t }
	for name, c := range map[string]struct {
		change func(k *attest.Key)
		want   attest.Verdict
	}{
		"a key that signs":             {func(*attest.Key) {}, attest.Holds},
		"one that was retired since":   {func(k *attest.Key) { k.ValidTo = at(1) }, attest.CannotTell},
		"one that was revoked":         {func(k *attest.Key) { k.RevokedAt = at(-1) }, attest.CannotTell},
		"one that was retired before":  {func(k *attest.Key) { k.ValidTo = at(-48) }, attest.Contradicted},
		"one that was not there yet":   {func(k *attest.Key) { k.ValidFrom = *at(48) }, attest.Contradicted},
		"one that was there a day ago": {func(k *attest.Key) { k.ValidFrom = *at(-24) }, attest.Holds},
	} {
		k := attest.Key{ID: "k", Use: attest.UseReport, ValidFrom: *at(-1)}
		c.change(&k)
		state, why := evidence.Lived(document, time.Time{}, attest.Keys{Keys: []attest.Key{k}}, "k")
		if got := attest.VerdictOf([]attest.Step{{State: state}}); got != c.want || (why == "") != (got == attest.Holds) {
			t.Errorf("%s: it %s, want %s: %s", name, got, c.want, why)
		}
	}
}

// TestTheCSVHasNoFormulas: a cell that a spreadsheet would execute begins with an apostrophe.
func TestTheCSVHasNoFormulas(t *testing.T) {
	t.Parallel()
	document := quarter(6)
	var out bytes.Buffer
	if err := evidence.WriteCSV(&out, document); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	periods := 0
	for _, item := range document.Items {
		periods += len(item.Periods)
	}
	if len(rows) != periods+1 {
		t.Errorf("%d rows of %d periods", len(rows), periods)
	}
	accepted := 0
	for _, row := range rows[1:] {
		for i, cell := range row {
			if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@") {
				t.Errorf("%s is %q", rows[0][i], cell)
			}
		}
		if row[6] == "accepted" && row[10] == "Dana Example" {
			accepted++
		}
	}
	if accepted == 0 {
		t.Error("nobody granted anything")
	}
}

// TestThePDFOfEvidence is the same for the same document, and names its sources. With MUSTER_PICTURES its pages
// are left there to be looked at.
func TestThePDFOfEvidence(t *testing.T) {
	t.Parallel()
	document := quarter(6)
	signed, err := evidence.Sign(document, key(1))
	if err != nil {
		t.Fatal(err)
	}
	var one, two bytes.Buffer
	for _, out := range []*bytes.Buffer{&one, &two} {
		if err := evidence.WritePDF(out, document, signed, "A4"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("two are not the same")
	}
	path := filepath.Join(t.TempDir(), "evidence.pdf")
	if err := os.WriteFile(path, one.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command("pdftotext", "-layout", path, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(string(text)), "")
	for _, part := range append([]string{
		"Example AG", "Control PG-S17 over a period", "6 servers: 0 passed all the time, 3 failed at some time", "orders-primary",
		"granted by Dana Example", "Evidence, SHA-256" + signed.Digest(), "Report key" + signed.KeyID, "Keys, fingerprint" + strings.Repeat("5b", 32), "Page 1 of ",
	}, document.Witnesses...) {
		if !strings.Contains(words, strings.Join(strings.Fields(part), "")) {
			t.Errorf("it does not say %q", part)
		}
	}
	if to := os.Getenv("MUSTER_PICTURES"); to != "" {
		if out, err := exec.Command("pdftoppm", "-r", "80", "-png", path, filepath.Join(to, "evidence")).CombinedOutput(); err != nil {
			t.Error(err, string(out))
		}
	}
}
