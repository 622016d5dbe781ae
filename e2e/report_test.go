package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	netmail "net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/eventstore/witness"
	"muster/internal/cli/command"
	"muster/internal/proof/attest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// house is an installation with a running server, an administrator and one
// PostgreSQL that it watches.
type house struct {
	installed
	server *running
	ana    client // the administrator
	live   uuid.UUID
}

// newHouseApart opens a house whose server is a process of its own.
func newHouseApart(t testing.TB, flags ...string) house {
	t.Helper()
	return install(t).open(t, func(t testing.TB, args ...string) *running { return serving(t, nil, args...) }, flags...)
}

// open opens a house in an installation where nobody is yet.
func (i installed) open(t testing.TB, serve func(testing.TB, ...string) *running, flags ...string) house {
	t.Helper()
	email := i.organization(t, "Acme")
	h := house{installed: i, server: serve(t, append(i.flags(), append([]string{"--rate-limits=off"}, flags...)...)...)}
	h.ana = i.as(t, h.server, email)
	h.live = h.ana.watch(t, "pg-live", pgtest.Watched(t).TCPURL(pgtest.Superuser, "postgres"))
	return h
}

// classify has every database of the live server looked at.
func (h house) classify(t testing.TB) {
	t.Helper()
	h.ana.call(t, http.StatusAccepted, http.MethodPost, "/api/v1/instances/"+h.live.String()+"/assess", nil, nil)
	eventually(t, "the server is classified", func() bool {
		var seen struct{ LastClassifiedAt *string }
		h.ana.get(t, "/api/v1/instances/"+h.live.String(), &seen)
		return seen.LastClassifiedAt != nil
	})
}

// download fetches a report's PDF, once it is signed, and keeps it in a file.
func (c client) download(t testing.TB, id uuid.UUID) (answer, string) {
	t.Helper()
	c.signed(t, id)
	got := c.get(t, "/api/v1/reports/"+id.String()+"/download", nil)
	return got, fileWith(t, id.String()+".pdf", string(got.body))
}

// sum is a SHA-256 as the log writes it.
func sum(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

// TestReportFromRequestToProof follows a Security report from the request to every way of
// proving it.
func TestReportFromRequestToProof(t *testing.T) {
	t.Parallel()
	proved(t, func(h house) []wish { return []wish{security(h.live)} })
}

// TestLongReportFromRequestToProof does so with the kinds whose proof is made by the same code.
func TestLongReportFromRequestToProof(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	proved(t, func(h house) []wish { return []wish{scorecard(h.live, 0), of("DataInventory", h.live)} })
}

func proved(t *testing.T, wishes func(house) []wish) {
	t.Helper()
	h := newHouse(t, "--target-networks=127.0.0.1", "--mcp=on")
	h.keepsOut(t)
	h.classify(t)
	bo, cy := h.ana.member(t, "bo@acme.example", "member"), h.ana.member(t, "cy@acme.example", "viewer")
	for _, w := range wishes(h) {
		t.Run(w.Kind, func(t *testing.T) {
			w.RecipientIDs = []uuid.UUID{bo, cy}
			id := h.ana.request(t, w)
			ready := h.ana.signed(t, id)
			if ready.File == nil || ready.DownloadURL != "/api/v1/reports/"+id.String()+"/download" || ready.RecipientCount != 3 {
				t.Fatalf("the report is %+v", ready)
			}
			if !slices.Contains(h.ana.history(t, w.Kind), id) {
				t.Error("the history does not list it")
			}
			h.digestsAgree(t, ready)
			h.mailsAreThere(t, ready)
			h.trailTells(t, ready)
			h.proves(t, ready)
			h.assistantHasTheProof(t, ready)
		})
	}
	h.must(t, "events", "verify")
}

// keepsOut has servers refused that no tenant may have looked at.
func (h house) keepsOut(t *testing.T) {
	t.Helper()
	for what, dsn := range map[string]string{
		"the house's own database":   pgtest.Shared(t).TCPURL(pgtest.Superuser, "postgres"),
		"its socket":                 pgtest.Shared(t).Superuser(),
		"an address in no network":   "postgres://u@127.0.0.3:1/postgres",
		"the socket of one that may": pgtest.Watched(t).Superuser(),
	} {
		got, err := h.ana.try(t.Context(), http.MethodPost, "/api/v1/instances", map[string]any{"name": "x", "engine": "postgresql", "dsn": dsn})
		if err != nil || got.status != http.StatusUnprocessableEntity || got.code() != "target_not_allowed" {
			t.Errorf("%s: %v %d %s", what, err, got.status, got.body)
		}
	}
}

// digestsAgree holds the file in hand against history, log and header.
func (h house) digestsAgree(t *testing.T, r row) {
	t.Helper()
	got, _ := h.ana.download(t, r.ID)
	digest := sum(got.body)
	if !strings.HasPrefix(string(got.body), "%PDF-") || int64(len(got.body)) != r.File.SizeBytes {
		t.Errorf("%d bytes that start with %.8q, want a PDF of %d", len(got.body), got.body, r.File.SizeBytes)
	}
	if r.File.SHA256 != digest {
		t.Errorf("the history's digest is %s, the file's %s", r.File.SHA256, digest)
	}
	if logged := h.events(t, "--stream", r.ID.String(), "--type", "report.ready"); len(logged) != 1 || logged[0].Data["pdfSha256"] != r.File.Base {
		t.Errorf("the log's Ready is %+v, the history's %s", logged, r.File.Base)
	}
	if logged := h.events(t, "--stream", r.ID.String(), "--type", "report.signed"); len(logged) != 1 || logged[0].Data["sha256"] != digest {
		t.Errorf("the log's Signed is %+v", logged)
	}
	base := h.ana.get(t, "/api/v1/reports/"+r.ID.String()+"/download?revision=base", nil).body
	if sum(base) != r.File.Base || !bytes.HasPrefix(got.body, base) || len(base) >= len(got.body) {
		t.Errorf("the signed PDF of %d bytes does not begin with the %d that were built", len(got.body), len(base))
	}
	raw := sha256.Sum256(got.body)
	if want := "sha-256=:" + base64.StdEncoding.EncodeToString(raw[:]) + ":"; got.header.Get("Repr-Digest") != want {
		t.Errorf("Repr-Digest is %s, want %s", got.header.Get("Repr-Digest"), want)
	}
	_, named, err := mime.ParseMediaType(got.header.Get("Content-Disposition"))
	if err != nil || named["filename"] != r.File.Name {
		t.Errorf("Content-Disposition %q: %v", got.header.Get("Content-Disposition"), err)
	}
}

// mailsAreThere looks for one mail a recipient in the outbox, which names nobody
// else and no secret.
func (h house) mailsAreThere(t *testing.T, r row) {
	t.Helper()
	addresses := []string{"ana@acme.example", "bo@acme.example", "cy@acme.example"}
	var mails []mailFile
	eventually(t, "every recipient has a mail", func() bool {
		mails = h.mails(t, r.ID)
		return len(mails) == len(addresses)
	})
	var to []string
	for _, m := range mails {
		receiver, err := netmail.ParseAddress(m.header.Get("To"))
		if err != nil {
			t.Fatal(err)
		}
		to = append(to, receiver.Address)
		for _, other := range addresses {
			if other != receiver.Address && strings.Contains(m.text, other) {
				t.Errorf("the mail to %s shows %s", receiver.Address, other)
			}
		}
		if strings.Contains(m.text, "mst_") || !strings.Contains(m.text, r.File.Base) {
			t.Errorf("the mail holds a credential, or not the digest:\n%s", m.text)
		}
		if m.header.Get("Auto-Submitted") != "auto-generated" || m.header.Get("Message-Id") == "" {
			t.Errorf("headers %v", m.header)
		}
	}
	slices.Sort(to)
	if !slices.Equal(to, addresses) {
		t.Errorf("mails went to %v", to)
	}
	eventually(t, "the recipients are marked as mailed", func() bool {
		return !slices.ContainsFunc(h.ana.report(t, r.ID).Recipients, func(who recipient) bool { return who.Delivery != "sent" })
	})
}

// trailTells holds the audit trail against what happened.
func (h house) trailTells(t *testing.T, r row) {
	t.Helper()
	var trail struct{ Items []struct{ Type string } }
	h.ana.get(t, "/api/v1/reports/"+r.ID.String()+"/events", &trail)
	count := make(map[string]int)
	for _, e := range trail.Items {
		count[e.Type]++
	}
	want := map[string]int{"queued": 1, "buildStarted": 1, "stepCompleted": 3, "ready": 1, "emailSent": 3, "signed": 1, "downloaded": 1}
	if fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("the trail holds %v, want %v", count, want)
	}
}

// provesAll gives everything of a report that somebody may hold to one command, with one trust
// file, and a mail to `events verify`.
func (h house) provesAll(t *testing.T, r row, pdf string) {
	t.Helper()
	trust := fileWith(t, "trust.json", h.must(t, "trust", "init"))
	inputs := h.ana.get(t, "/api/v1/reports/"+r.ID.String()+"/files/inputs.json", nil).body
	outbox, err := filepath.Glob(filepath.Join(h.dir, "outbox", "*."+r.ID.String()+".*.eml"))
	if err != nil || len(outbox) == 0 {
		t.Fatalf("there is no mail: %v", err)
	}
	h.must(t, "events", "verify", "--witness", outbox[0])
	given := []string{"verify", "--offline", "--trust", trust, outbox[0], fileWith(t, "inputs.json", string(inputs)), pdf}
	export, evidence := filepath.Join(t.TempDir(), "reports.jsonl"), filepath.Join(t.TempDir(), "evidence.json")
	h.must(t, "events", "export", "--log", "reports", "--file", export)
	h.must(t, "evidence", "--check", "PG-S17", "--from", time.Now().AddDate(0, 0, -1).UTC().Format(time.RFC3339),
		"--to", time.Now().UTC().Format(time.RFC3339), "--proof", evidence)
	all, said := slices.Concat(given, []string{export, evidence}), []string{
		"The proof of this mail holds", "This is inputs.json of ", "This is " + r.Kind + " report ", "This is log reports up to ", "This is evidence of PG-S17 ",
	}
	for _, name := range report.Companions(report.Kind(r.Kind)) {
		content := string(h.ana.get(t, "/api/v1/reports/"+r.ID.String()+"/files/"+name, nil).body)
		all, said = append(all, fileWith(t, name, content)), append(said, "This is "+name+" of ")
		changed := fileWith(t, name, content+"\n")
		if got := muster(t, append(given[:5:5], changed)...); got.status != command.ExitCannotTell || strings.Contains(got.out, "This is "+name) {
			t.Errorf("with a trust file and the mail, %s, changed, ends with %d: %s%s", name, got.status, got.out, got.errors)
		}
	}
	got := muster(t, all...)
	for _, says := range said {
		if got.status != 0 || !strings.Contains(got.out, says) {
			t.Errorf("with a trust file it ends with %d and does not say %q: %s%s", got.status, says, got.out, got.errors)
		}
	}
	for name, file := range map[string]string{
		"an event": fileWith(t, "reports.jsonl", strings.Replace(string(read(t, export)), "report.ready", "report.reedy", 1)),
		"a state":  fileWith(t, "evidence.json", strings.Replace(string(read(t, evidence)), `"state": "`, `"state": "x`, 1)),
	} {
		if got := muster(t, append(given[:5:5], file)...); got.status != command.ExitFailed {
			t.Errorf("with a trust file, and %s changed, it ends with %d: %s%s", name, got.status, got.out, got.errors)
		}
	}
	h.sameFingerprint(t, trust, outbox[0], inputs, got.out)
	// A table, and the PDF as it was built, by the proof that the mail carries.
	verifiedByOthers(t, 0, "--trust", trust, pdf)
	base := fileWith(t, "base.pdf", string(h.base(t, r.ID)))
	if got := muster(t, append(given[:4:4], base, given[5], outbox[0])...); got.status != 0 || !strings.Contains(got.out, "This is "+r.Kind+" report ") {
		t.Errorf("by the proof in the mail it ends with %d: %s%s", got.status, got.out, got.errors)
	}
	attached := regexp.MustCompile(`(?s)(filename="proof.json"\r\n.*?\r\n\r\n)(.*?)(\r\n--)`)
	forged := attached.ReplaceAllStringFunc(string(read(t, outbox[0])), func(part string) string {
		found := attached.FindStringSubmatch(part)
		proof, err := base64.StdEncoding.DecodeString(found[2])
		other := strings.Replace(string(proof), `\"sizeBytes\":`, `\"sizeBytes\":1`, 1)
		if err != nil || other == string(proof) {
			t.Fatalf("the attachment is %s, %v", proof, err)
		}
		return found[1] + base64.StdEncoding.EncodeToString([]byte(other)) + found[3]
	})
	if got := muster(t, append(given[:4:4], fileWith(t, "forged.eml", forged))...); got.status != command.ExitFailed || !strings.Contains(got.out, "hash does not match") {
		t.Errorf("with a changed attachment it ends with %d: %s%s", got.status, got.out, got.errors)
	}
	changed := strings.ReplaceAll(string(read(t, outbox[0])), r.File.Base[:8], "00000000")
	if got := muster(t, append(given[:4:4], fileWith(t, "changed.eml", changed))...); got.status != command.ExitFailed {
		t.Errorf("with a changed mail it ends with %d: %s%s", got.status, got.out, got.errors)
	}
	if got := muster(t, append(given, "--keys", trust)...); got.status != command.ExitUsage {
		t.Errorf("with --trust and --keys it ends with %d: %s", got.status, got.errors)
	}
}

// fingerprint is that of the keys which the installation publishes.
func (h house) fingerprint(t *testing.T) string {
	t.Helper()
	return attest.Keys{Keys: h.published(t)}.Fingerprint()
}

// sameFingerprint holds the fingerprint of the keys against every place that prints it: of the
// PDF, its inputs stand here.
func (h house) sameFingerprint(t *testing.T, trust, mail string, inputs []byte, verified string) {
	t.Helper()
	fingerprint := h.fingerprint(t)
	for what, said := range map[string]string{
		"the inputs of the PDF":   string(inputs),
		"the mail":                readMail(t, string(read(t, mail))).text,
		"verify --offline":        verified,
		"trust init":              muster(t, "trust", "init", "--keys", fileWith(t, "keys.json", string(client{base: h.server.base}.get(t, "/.well-known/muster-keys.json", nil).body))).errors,
		"keys export":             muster(t, append([]string{"keys", "export"}, h.flags()...)...).errors,
		"verify --offline --json": muster(t, "verify", "--offline", "--trust", trust, "--json", mail).out,
	} {
		if !strings.Contains(said, fingerprint) {
			t.Errorf("%s: there is no fingerprint %s: %s", what, fingerprint, said)
		}
	}
}

// verifiedByOthers runs the verifier that was written from docs/auditors.md alone.
func verifiedByOthers(t *testing.T, status int, args ...string) {
	t.Helper()
	for _, tool := range []string{"python3", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			return // internal/proof/attest/page says that it is missing
		}
	}
	run := exec.CommandContext(t.Context(), "python3", append([]string{"../scripts/verify_report.py"}, args...)...)
	said, _ := run.CombinedOutput()
	if got := run.ProcessState.ExitCode(); got != status {
		t.Errorf("scripts/verify_report.py %v ends with %d, want %d:\n%s", args, got, status, said)
	}
}

// provesCompanions asks of what goes with the PDF: each file is known, with the database and
// without, and one that was changed is not.
func (h house) provesCompanions(t *testing.T, r row) {
	t.Helper()
	file := func(name string, content []byte) string { return fileWith(t, name, string(content)) }
	proof := file("proof.json", h.ana.get(t, "/api/v1/reports/"+r.ID.String()+"/proof", nil).body)
	keys := file("muster-keys.json", client{base: h.server.base}.get(t, "/.well-known/muster-keys.json", nil).body)
	_, pdf := h.ana.download(t, r.ID)
	verifiedByOthers(t, 0, "--keys", keys, pdf)
	for _, name := range append(report.Companions(report.Kind(r.Kind)), report.InputsFile) {
		content := h.ana.get(t, "/api/v1/reports/"+r.ID.String()+"/files/"+name, nil).body
		genuine, changed := file(name, content), file("changed-"+name, append(slices.Clone(content), '\n'))
		if said := h.must(t, "verify", genuine); !strings.Contains(said, "ours and intact") || !strings.Contains(said, name+", SHA-256 "+sum(content)) {
			t.Errorf("of %s verify says\n%s", name, said)
		}
		h.fail(t, []string{"verify", changed}, "not one of ours")
		offline := []string{"verify", "--offline", "--keys", keys, "--proof", proof}
		if got := muster(t, append(offline, genuine)...); got.status != 0 || !strings.Contains(got.out, "This is "+name+" of ") {
			t.Errorf("of %s verify --offline ends with %d: %s%s", name, got.status, got.out, got.errors)
		}
		if got := muster(t, append(offline, genuine, changed)...); got.status != 1 {
			t.Errorf("of %s, changed, verify --offline ends with %d: %s%s", name, got.status, got.out, got.errors)
		}
		verifiedByOthers(t, 0, "--keys", keys, "--proof", proof, genuine)
		if name == report.InputsFile { // for the tables, TestAnIndependentVerifierAgrees (internal/proof/attest/page)
			verifiedByOthers(t, 1, "--keys", keys, "--proof", proof, changed)
		}
		var known struct {
			Known bool
			File  string
		}
		h.ana.call(t, http.StatusOK, http.MethodPost, "/api/v1/reports/verify", content, &known)
		if !known.Known || known.File != name {
			t.Errorf("of %s the API says %+v", name, known)
		}
	}
}

// proves asks every tool that can say whether the PDF is genuine.
func (h house) proves(t *testing.T, r row) {
	t.Helper()
	got, path := h.ana.download(t, r.ID)
	if said := h.must(t, "reports", "rebuild", r.ID.String(), "--verify"); !strings.HasPrefix(said, "identical") {
		t.Errorf("rebuild says %s", said)
	}
	again := filepath.Join(t.TempDir(), "again.pdf")
	h.must(t, "reports", "rebuild", r.ID.String(), "--file", again)
	if content, err := os.ReadFile(again); err != nil || sum(content) != r.File.Base {
		t.Errorf("the PDF built again has another digest, %v", err)
	}
	h.fail(t, []string{"reports", "rebuild", r.ID.String(), "--file", again}, "exists")

	said := h.must(t, "verify", path)
	for _, word := range []string{"ours and intact", r.ID.String(), r.File.Base, "by ana", "downloaded ana",
		"emailSent to ana", "emailSent to bo@acme.example", "emailSent to cy@acme.example"} {
		if !strings.Contains(said, word) {
			t.Errorf("muster verify does not tell %q:\n%s", word, said)
		}
	}
	h.provesCompanions(t, r)
	var known struct {
		Known   bool
		Chain   string
		Report  row
		Witness struct {
			Log      string
			Position int64
			Hash     string
		}
	}
	h.ana.call(t, http.StatusOK, http.MethodPost, "/api/v1/reports/verify", got.body, &known)
	if !known.Known || known.Chain != "ok" || known.Report.ID != r.ID {
		t.Errorf("the API says %+v", known)
	}
	// A witness is taken as it stands, wherever that is: in the PDF the head of before the
	// report, in the mail the one with it.
	h.must(t, "events", "verify", "--witness", witness.Format(known.Witness.Log, known.Witness.Position, known.Witness.Hash))
	ready := h.events(t, "--stream", r.ID.String(), "--type", "report.ready")[0]
	head := witness.Format("reports", ready.Position, ready.Hash)
	h.must(t, "events", "verify", "--witness", head)
	for name, kept := range map[string][]byte{"kept.pdf": got.body, "base.pdf": h.base(t, r.ID), "proof.json": h.ana.get(t, "/api/v1/reports/"+r.ID.String()+"/proof", nil).body} {
		said := h.must(t, "events", "verify", "--witness", fileWith(t, name, string(kept)))
		if strings.Contains(said, ": checkpoint over ") != (name != "base.pdf") {
			t.Errorf("%s: %s", name, said)
		}
	}
	h.provesAll(t, r, path)
	for _, m := range h.mails(t, r.ID) {
		if !slices.Contains(strings.Fields(m.text), head) {
			t.Errorf("the mail does not carry the witness %s:\n%s", head, m.text)
		}
	}

	forged := append(slices.Clone(got.body), ' ')
	h.fail(t, []string{"verify", fileWith(t, "forged.pdf", string(forged))}, "not one of ours", sum(forged))
	known.Known = true
	h.ana.call(t, http.StatusOK, http.MethodPost, "/api/v1/reports/verify", forged, &known)
	if known.Known {
		t.Error("the API knows a forged file")
	}
}
