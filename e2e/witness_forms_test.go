package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/proof/attest"
	"muster/internal/testing/pgtest"
)

// TestTheLogIsComparedWithCheckpoints that somebody kept, as text and as a file, and each
// sentence of one that does not fit.
func TestTheLogIsComparedWithCheckpoints(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	i.request(t, ana, report.Security)
	i.request(t, ana, report.DataInventory)
	i.fail(t, []string{"events", "checkpoint"}, "has no checkpoint yet")
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		return in.Checkpoints.Grown(ctx, eventstore.Reports)
	})
	signed := i.must(t, "events", "checkpoint")
	i.request(t, ana, report.Security)
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		write(t, path, []byte(content))
		return path
	}
	head := strings.TrimSpace(i.must(t, "events", "witness"))
	proof, printed := i.proofOf(t, signed), func(w string) string {
		return "%PDF-1.7\n<pdf:Keywords>report-request:x inputs-sha256:y witness:" + w + "</pdf:Keywords>\n%%EOF\n"
	}
	for name, w := range map[string]string{
		"a checkpoint": signed, "from a shell": strings.TrimSuffix(signed, "\n"), "a file of it": file("checkpoint", signed), "a file of a head": file("head", head+"\n"),
		"a PDF": file("base.pdf", printed(head)), "a proof": file("proof.json", proof),
	} {
		if said := i.must(t, "events", "verify", "--witness", w); !strings.Contains(said, "reports: ok, 3 events") || strings.Contains(said, "fleet") ||
			strings.Contains(name, "checkpoint") && !strings.Contains(said, "checkpoint over 2 events ok, signed by key ") {
			t.Errorf("%s: %s", name, said)
		}
	}
	lines := strings.SplitN(signed, "\n", 4)
	other := func(n int, with string) string {
		changed := append([]string(nil), lines...)
		changed[n] = with
		return strings.Join(changed, "\n")
	}
	zero := strings.Repeat("A", 43) + "="
	for w, want := range map[string]string{
		other(0, "muster/"+uuid.NewString()+"/reports"): "another installation's",
		other(1, "40"): "over 40 events, and the log has 3: events are gone",
		other(2, zero): "the first 2 events have the root",
		other(1, "3"):  "the first 3 events have the root",
		file("other.pdf", printed("reports:2:"+strings.Repeat("0", 64))):                                                               "reports:2",
		file("head.json", regexp.MustCompile(`"hash":"[0-9a-f]{64}"`).ReplaceAllString(proof, `"hash":"`+strings.Repeat("0", 64)+`"`)): "reports:2",
		file("other.json", strings.Replace(proof, lines[2], zero, 1)):                                                                  "the log was changed since",
	} {
		got := muster(t, append(i.flags(), "events", "verify", "--witness", w)...)
		got.failed(t, "does not fit")
		if !strings.Contains(got.out, want) {
			t.Errorf("not %q: %s", want, got.out)
		}
	}
	last := lines[3][:len(lines[3])-8] + "AAAA" + lines[3][len(lines[3])-4:]
	got := muster(t, append(i.flags(), "events", "verify", "--witness", other(3, last))...)
	got.failed(t, "does not fit")
	if !strings.Contains(got.out, "below it was changed") {
		t.Errorf("a changed signature: %s", got.out)
	}
	if said := i.must(t, "events", "verify", "--witness", other(3, "\n— stranger AAAAAAAA\n")); !strings.Contains(said, "signed by no key of this installation") {
		t.Errorf("a stranger's: %s", said)
	}
	for _, w := range []string{file("x", "x"), file("x.pdf", "%PDF-1.7\n"), file("x.json", `{"format":"x"}`), "a\n1\n" + zero + "\n\n— a AAAA\n", dir, other(1, "x")} {
		if got := muster(t, append(i.flags(), "events", "verify", "--witness", w)...); got.status != command.ExitUsage || !strings.Contains(got.errors, "--witness: ") {
			t.Errorf("%q: %d %s", w, got.status, got.errors)
		}
	}
	if got := muster(t, "events", "verify", "--witness", signed, "--export", file("x.jsonl", "")); got.status != command.ExitUsage || !strings.Contains(got.errors, "held against a head") {
		t.Errorf("an export: %d %s", got.status, got.errors)
	}

	// Somebody with the database computes all of it anew.
	db := pgtest.Connect(t, i.url)
	pgtest.Unguard(t, db)
	db.MustExec(`UPDATE events SET recorded_at = recorded_at - interval '1 ms' WHERE log = 'reports' AND position = 2`)
	db.MustExec(`UPDATE events e SET hash = sha256((SELECT hash FROM events b WHERE b.log = 'reports' AND b.position = e.position - 1) || digest || timestamptz_send(recorded_at)) WHERE log = 'reports' AND position = 2`)
	db.MustExec(`UPDATE events e SET hash = sha256((SELECT hash FROM events b WHERE b.log = 'reports' AND b.position = e.position - 1) || digest || timestamptz_send(recorded_at)) WHERE log = 'reports' AND position = 3`)
	db.MustExec(`UPDATE log_head SET hash = (SELECT hash FROM events WHERE log = 'reports' AND position = 3) WHERE log = 'reports'`)
	contradicts := func(what string) {
		t.Helper()
		got := muster(t, append(i.flags(), "events", "verify", "--log", "reports")...)
		got.failed(t, "does not fit")
		if !strings.Contains(got.out, what) {
			t.Errorf("not %q: %s", what, got.out)
		}
	}
	beside := filepath.Join(i.dir, "secret.key.signed-reports")
	contradicts(beside + " says")
	if err := os.Remove(beside); err != nil {
		t.Fatal(err)
	}
	contradicts("the checkpoint that is kept over 2 events says")
	db.MustExec(`ALTER TABLE log_checkpoints DISABLE TRIGGER USER; DELETE FROM log_checkpoints`)
	i.must(t, "events", "verify", "--log", "reports") // a chain beside its own data proves little
	i.fail(t, []string{"events", "verify", "--witness", signed}, "does not fit")
	i.fail(t, []string{"events", "verify", "--witness", file("proof.json", proof)}, "does not fit")
}

// proofOf is a proof of the log's second event by a checkpoint; of no report that is there.
func (i installed) proofOf(t *testing.T, signed string) string {
	t.Helper()
	var document []byte
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		var events []eventstore.Event
		for e, err := range in.Events.Read(ctx, eventstore.Reports, eventstore.Filter{}) {
			if err != nil {
				return err
			}
			events = append(events, e)
		}
		of, err := attest.NewEvent(events[1], events[0].Hash)
		if err != nil {
			return err
		}
		inclusion, err := tree.New(in.DB).Inclusion(ctx, eventstore.Reports, 2, 2)
		if err != nil {
			return err
		}
		digest := strings.Repeat("0", 64)
		p := attest.Proof{
			Origin: in.Signing.Origin(eventstore.Reports), Event: of, Checkpoint: signed,
			Report: attest.Report{ScopeSHA256: digest, PDFSHA256: digest, InputsSHA256: digest},
		}
		for _, hash := range inclusion {
			p.Inclusion = append(p.Inclusion, hash[:])
		}
		document, err = p.Encode()
		return err
	})
	if len(document) == 0 {
		t.Fatal(fmt.Errorf("there is no proof: %w", os.ErrNotExist))
	}
	return string(document)
}
