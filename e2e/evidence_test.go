package e2e

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/proof/attest"
	"muster/internal/report/control/evidence"
	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

// TestEvidence is printed in each form, and its signed form is checked without the
// installation that made it.
func TestEvidence(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	var keys, all attest.Keys
	now := time.Now().UTC().Truncate(time.Second)
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		acme, err := in.OrganizationNamed(ctx, "Acme")
		if err != nil {
			return err
		}
		actor := usecase.Actor{OrganizationID: acme.ID, Component: "cli"}
		ids, _, err := in.Commands.RecordFleet(ctx, actor, []inventory.Item{{ExternalID: "shop", Name: "shop", Engine: fleet.PostgreSQL, CreatedAt: now.AddDate(0, 0, -9)}})
		if err != nil {
			return err
		}
		var sent []assessment.Sent
		for n, status := range []string{snapshot.StatusPass, snapshot.StatusFail, snapshot.StatusPass} {
			sent = append(sent, assessment.Sent{Instance: ids[0].ID, Engine: fleet.PostgreSQL, Buffered: true, At: now.Add(time.Duration(n-4) * 12 * time.Hour), Assessment: snapshot.Assessment{
				Outcome: snapshot.OutcomeComplete, Results: []snapshot.CheckResult{{CheckID: "PG-S17", Status: status}},
			}})
		}
		err = in.Facts.RecordSent(ctx, acme.ID, sent, func(tx *sqlx.Tx, told []fleet.Assessed) error {
			_, err := in.Commands.RecordAssessmentTx(ctx, tx, actor, told...)
			return err
		})
		if err != nil {
			return err
		}
		if all, err = in.Signing.Keys(ctx); err != nil {
			return err
		}
		named, err := attest.ReportKey(in.Key.ReportSigner().Public().(ed25519.PublicKey), now)
		keys.Keys = append(keys.Keys, named)
		return err
	})
	asked := []string{"evidence", "--check", "PG-S17", "--from", now.AddDate(0, 0, -3).Format(time.RFC3339), "--to", now.AddDate(0, 0, 1).Format(time.RFC3339)}
	said := i.must(t, asked...)
	words := strings.Join(strings.Fields(said), " ")
	for _, part := range []string{"passed 1", "failed 1", "notAssessed", "No assessment in the 24 hours before.", "LONGEST GAP shop", "1 d 0 h", "witness", "fleet:", "SHA-256"} {
		if !strings.Contains(words, part) {
			t.Errorf("no %q in\n%s", part, said)
		}
	}
	file := filepath.Join(t.TempDir(), "evidence.json")
	paper, whole := filepath.Join(t.TempDir(), "evidence.pdf"), filepath.Join(t.TempDir(), "all.json")
	pdf := []byte(i.must(t, append(asked, "--pdf", "--proof", file)...))
	write(t, paper, pdf)
	write(t, whole, mustJSON(t, all))
	edited := map[string][]byte{"a byte": bytes.Replace(pdf, []byte("/Count 1"), []byte("/Count 2"), 1), "a byte behind it": append(slices.Clone(pdf), '\n')}
	edited["a state in it"] = bytes.Replace(pdf, []byte(`"failed"`), []byte(`"passed"`), 1)
	for name, content := range edited {
		if bytes.Equal(content, pdf) {
			t.Errorf("%s: nothing is edited", name)
		}
		forged := filepath.Join(t.TempDir(), "forged.pdf")
		write(t, forged, content)
		for _, args := range [][]string{{"evidence", "--verify", forged, "--keys", whole}, {"verify", "--offline", "--keys", whole, forged}, {"verify", forged}} {
			if got := i.muster(t, args...); got.status != command.ExitFailed {
				t.Errorf("%s: %v says %d %s%s", name, args, got.status, got.out, got.errors)
			}
		}
	}
	for _, args := range [][]string{{"evidence", "--verify", paper, "--keys", whole}, {"verify", "--offline", "--keys", whole, paper, file}} {
		if got := muster(t, args...); got.status != 0 || !strings.Contains(got.out, "This is evidence of PG-S17 of Acme") {
			t.Errorf("%v: %d %s%s", args, got.status, got.out, got.errors)
		}
	}
	if known := i.must(t, "verify", paper, file); strings.Count(known, "ours and intact") != 2 || !strings.Contains(known, "Acme") || !strings.Contains(known, "organization:") {
		t.Errorf("verify says\n%s", known)
	}
	published := fileWith(t, "muster-keys.json", i.must(t, "keys", "export"))
	for status, content := range map[int]string{0: string(pdf), 1: strings.Replace(string(pdf), "stream\n", "Stream\n", 1)} {
		got := muster(t, "verify", "--offline", "--keys", published, fileWith(t, "evidence.pdf", content))
		if got.status != status || status == 0 && !strings.Contains(got.out, "This is evidence of PG-S17 of ") {
			t.Errorf("of a PDF verify --offline ends with %d, want %d: %s%s", got.status, status, got.out, got.errors)
		}
	}
	if rows := strings.Count(i.must(t, append(asked, "--csv")...), "\r\n"); rows != 6 {
		t.Errorf("%d rows of CSV", rows)
	}
	printed := i.must(t, append(asked, "--json")...)
	signed, document, err := evidence.Parse([]byte(printed))
	if err != nil {
		t.Fatal(err)
	}
	recorded := i.must(t, "events", "list", "--log", "organization", "--type", "evidence.made")
	for _, part := range []string{document.ID.String(), signed.Digest(), document.AsOf.Format(time.RFC3339Nano), `"checkId":"PG-S17"`, "system:cli"} {
		if !strings.Contains(recorded, part) {
			t.Errorf("the log does not have %s:\n%s", part, recorded)
		}
	}
	if n := strings.Count(recorded, "evidence.made"); n != 4 || strings.Contains(recorded, "passed") {
		t.Errorf("the log says %d times that evidence was made:\n%s", n, recorded)
	}
	for at, head := range document.Witnesses { // each log is signed up to its head at least
		tree, err := attest.ParseCheckpoint(document.Checkpoints[at].Note)
		log, rest, _ := strings.Cut(head, ":")
		position, _, _ := strings.Cut(rest, ":")
		n, wrong := strconv.ParseInt(position, 10, 64)
		if err != nil || wrong != nil || !strings.HasSuffix(tree.Origin, "/"+log) || tree.Size < n {
			t.Errorf("head %s, checkpoint %v %v %v", head, tree, err, wrong)
		}
	}
	if got := i.muster(t, append(asked, "--instance", uuid.Max.String())...); got.status != command.ExitUsage || !strings.Contains(got.errors, "is no server of this organization") {
		t.Errorf("an unknown server: %d %s", got.status, got.errors)
	}
	told := 0
	for _, a := range document.Items[0].Assessments {
		if len(a.SHA256) != 64 {
			t.Errorf("digest %q", a.SHA256)
		}
		if a.Event != nil {
			told++
		}
	}
	if len(document.Items[0].Assessments) != 3 || told == 0 {
		t.Errorf("%d assessments, %d with an event", len(document.Items[0].Assessments), told)
	}

	mine, theirs := filepath.Join(t.TempDir(), "keys.json"), filepath.Join(t.TempDir(), "keys.json")
	write(t, mine, mustJSON(t, keys))
	other, err := attest.ReportKey(ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey), now)
	if err != nil {
		t.Fatal(err)
	}
	write(t, theirs, mustJSON(t, attest.Keys{Keys: []attest.Key{other}}))
	changed := filepath.Join(t.TempDir(), "changed.json")
	write(t, changed, []byte(strings.Replace(string(read(t, file)), `"failed"`, `"passed"`, 1)))
	for name, c := range map[string]struct {
		file, keys string
		status     int
		says       string
	}{
		"as written":  {file, mine, 0, "signed by key " + keys.Keys[0].ID},
		"changed":     {changed, mine, 1, "signed different evidence"},
		"other keys":  {file, theirs, 3, "not among the given keys"},
		"no file":     {file + "x", mine, 3, "no such file"},
		"no keys":     {file, file, 3, "keys document"},
		"no evidence": {mine, mine, 3, "no signed evidence"},
	} {
		got := muster(t, "evidence", "--verify", c.file, "--keys", c.keys) // nowhere near a database
		if got.status != c.status || !strings.Contains(got.out+got.errors, c.says) {
			t.Errorf("%s: %d %s%s", name, got.status, got.out, got.errors)
		}
	}
	for status, f := range map[int]string{0: file, 1: changed} {
		if got := muster(t, "verify", "--offline", "--keys", mine, f); got.status != status || !strings.Contains(got.out, "evidence") {
			t.Errorf("verify --offline ends with %d, want %d: %s%s", got.status, status, got.out, got.errors)
		}
	}
	verifiedByOthers(t, 0, "--keys", mine, file)
	verifiedByOthers(t, 1, "--keys", mine, changed)
	verifiedByOthers(t, 3, "--keys", theirs, file)
	if got := i.muster(t, append(asked, "--proof", file)...); got.status != command.ExitFailed {
		t.Errorf("it wrote over a file: %d", got.status)
	}
	db := pgtest.Connect(t, i.url)
	db.MustExec(`UPDATE assessments SET facts = replace(facts::text, '"pass"', '"fail"')::json WHERE facts::text LIKE '%"pass"%'`)
	i.fail(t, append(asked, "--json"), "of shop at", "is altered", "is not the one that the log recorded")
	db.MustExec(`UPDATE assessments SET facts = replace(facts::text, '"fail"', '"pass"')::json WHERE id <> (SELECT id FROM assessments ORDER BY recorded_at LIMIT 1 OFFSET 1)`)
	i.must(t, append(asked, "--json")...)
	i.organization(t, "Bolt")
	i.fail(t, asked, "several organizations")
	if theirs := i.must(t, append(asked, "--in", "Bolt")...); !strings.Contains(theirs, "No server") {
		t.Errorf("another organization's evidence is\n%s", theirs)
	}
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(fmt.Errorf("encode: %w", err))
	}
	return text
}
