package e2e

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/cli/prove"
	"muster/internal/testing/pgtest"
)

// line is an event as `events list` prints it.
type line struct {
	Log            string         `json:"log"`
	Position       int64          `json:"position"`
	OrganizationID uuid.UUID      `json:"organizationId"`
	StreamID       uuid.UUID      `json:"streamId"`
	Version        int64          `json:"version"`
	Type           string         `json:"type"`
	OccurredAt     time.Time      `json:"occurredAt"`
	RecordedAt     time.Time      `json:"recordedAt"`
	Data           map[string]any `json:"data"`
	Metadata       map[string]any `json:"metadata"`
	Digest         string         `json:"digest"`
	Hash           string         `json:"hash"`
}

// events lists events by the command that auditors use.
func (i installed) events(t testing.TB, args ...string) []line {
	t.Helper()
	var lines []line
	decoder := json.NewDecoder(strings.NewReader(i.must(t, append([]string{"events", "list"}, args...)...)))
	for decoder.More() {
		var l line
		if err := decoder.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// request queues a report in the name of a member. Nobody works on it: these
// installations have no server.
func (i installed) request(t testing.TB, email string, kind report.Kind) (id uuid.UUID) {
	t.Helper()
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		member, ok, err := in.Accounts.MemberByEmail(ctx, email)
		if err != nil || !ok {
			return fmt.Errorf("no account %s: %w", email, err)
		}
		actor := usecase.Actor{OrganizationID: member.OrganizationID, MemberID: member.ID}
		asked, err := in.Commands.RequestReport(ctx, actor, commands.RequestReport{Kind: kind})
		id = asked.ReportID
		return err
	})
	return id
}

func TestListEvents(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana, bo := i.organization(t, "Acme"), i.organization(t, "Bolt")
	first, second := i.request(t, ana, report.Security), i.request(t, bo, report.Security)
	all := i.events(t)
	acme := all[0].OrganizationID
	if all[0].Log != "reports" || all[0].StreamID != first || all[0].Position != 1 || all[0].Type != "report.queued" ||
		all[0].Data["kind"] != "Security" || all[0].Metadata["actorId"] == nil || len(all[0].Hash) != 64 {
		t.Errorf("the first event is %+v", all[0])
	}
	noon := all[1].RecordedAt.Format(time.RFC3339Nano)
	for args, want := range map[string]func(line) bool{
		"--log reports":                     func(l line) bool { return l.Log == "reports" },
		"--log organization":                func(l line) bool { return l.Log == "organization" },
		"--log fleet":                       func(line) bool { return false },
		"--organization " + acme.String():   func(l line) bool { return l.OrganizationID == acme },
		"--stream " + second.String():       func(l line) bool { return l.StreamID == second },
		"--type report.queued":              func(l line) bool { return l.Type == "report.queued" },
		"--type report.queued,report.ready": func(l line) bool { return l.Type == "report.queued" },
		"--from " + noon:                    func(l line) bool { return !l.RecordedAt.Before(all[1].RecordedAt) },
		"--to " + noon:                      func(l line) bool { return l.RecordedAt.Before(all[1].RecordedAt) },
	} {
		var expected []string
		for _, l := range all {
			if want(l) {
				expected = append(expected, l.Hash)
			}
		}
		var got []string
		for _, l := range i.events(t, strings.Fields(args)...) {
			got = append(got, l.Hash)
		}
		if strings.Join(got, " ") != strings.Join(expected, " ") {
			t.Errorf("events list %s lists %d events, want %d", args, len(got), len(expected))
		}
	}
	if got := i.events(t, "--limit", "3"); len(got) != 3 || got[2].Hash != all[2].Hash {
		t.Errorf("--limit 3 lists %d", len(got))
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	first := i.request(t, ana, report.Security)
	second := i.request(t, ana, report.DataInventory)
	between := i.events(t, "--stream", second.String())[0].RecordedAt.Format(time.RFC3339Nano)
	for args, want := range map[string][]uuid.UUID{
		"":                               {first, second},
		"--as-of " + between:             {first},
		"--as-of 2020-01-01T00:00:00Z":   {},
		"--kind DataInventory --in Acme": {second},
		"--kind InstanceScorecard":       {},
	} {
		said := i.must(t, append([]string{"events", "replay"}, strings.Fields(args)...)...)
		listing, _, _ := strings.Cut(said, "\n\n")
		if rows := strings.Count(listing+"\n", "\n") - 1; rows != len(want) {
			t.Errorf("replay %s shows %d rows, want %d:\n%s", args, rows, len(want), said)
		}
		for _, id := range want {
			if !regexp.MustCompile(id.String() + ` .* Queued `).MatchString(said) {
				t.Errorf("replay %s does not show %s Queued:\n%s", args, id, said)
			}
		}
	}
}

// TestReplayCounts: what the fleet's log had recorded of one organization.
func TestReplayCounts(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	i.organization(t, "Bolt")
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		member, _, err := in.Accounts.MemberByEmail(ctx, ana)
		if err != nil {
			return err
		}
		now := time.Now()
		_, _, err = in.Commands.RecordFleet(ctx, usecase.Actor{OrganizationID: member.OrganizationID, Component: "ingest"}, []inventory.Item{{
			ExternalID: "pg-1", Name: "pg-1", Engine: fleet.PostgreSQL, CreatedAt: now, Databases: []inventory.Database{
				{ExternalID: "a", Name: "a", CreatedAt: now}, {ExternalID: "b", Name: "b", CreatedAt: now},
			},
		}})
		return err
	})
	for args, want := range map[string]string{
		"--in Acme": `1 +2 +0`, "--in Bolt": `0 +0 +0`, "--in Acme --as-of 2020-01-01T00:00:00Z": `0 +0 +0`,
	} {
		said := i.must(t, append([]string{"events", "replay"}, strings.Fields(args)...)...)
		if !regexp.MustCompile(`\n\nINSTANCES +DATABASES +OPEN ALERTS, NOT MUTED\n` + want + `\n$`).MatchString(said) {
			t.Errorf("replay %s does not count %s:\n%s", args, want, said)
		}
	}
}

func TestHeadsAreWitnesses(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	i.request(t, ana, report.Security)
	kept := strings.Split(strings.TrimSpace(i.must(t, "events", "head")), "\n")
	if len(kept) != len(eventstore.Logs) {
		t.Fatalf("the logs have the heads %q", kept)
	}
	said := i.must(t, "events", "head", "--json")
	var printed struct{ Heads []json.RawMessage }
	var signed eventstore.SignedHead
	if err := json.Unmarshal([]byte(said), &printed); err != nil || len(printed.Heads) != len(eventstore.Logs) {
		t.Fatalf("%s: %v", said, err)
	}
	first := string(printed.Heads[0])
	if err := json.Unmarshal(printed.Heads[0], &signed); err != nil || signed.Head.Position != 1 || signed.Head.Log != eventstore.Reports {
		t.Fatalf("%s: %v", first, err)
	}
	key := base64.StdEncoding.EncodeToString(signed.PublicKey)
	// Checking a line needs no installation.
	for _, l := range kept {
		if got := muster(t, "events", "head", "--check", l, "--key", key); got.status != 0 {
			t.Errorf("%s: %s", l, got.errors)
		}
	}
	takesSPKI(t, kept[0], signed.PublicKey)
	stranger := installed{url: pgtest.EmptyURL(t), dir: t.TempDir()}
	theirs := strings.Fields(stranger.must(t, "events", "head"))[3]
	muster(t, "events", "head", "--check", kept[0], "--key", theirs).failed(t, "not signed by this key")
	forged := strings.Replace(kept[0], " 1:", " 2:", 1)
	muster(t, "events", "head", "--check", forged, "--key", key).failed(t, "not signed by this key")

	i.request(t, ana, report.DataInventory)
	// Each form in which the program prints a head is taken as it was printed.
	plain := strings.TrimSpace(i.must(t, "events", "witness", "--log", "reports"))
	i.request(t, ana, report.Security)
	verified := i.must(t, "events", "verify", "--log", "reports")
	_, now, _ := strings.Cut(verified, "head ")
	now, _, _ = strings.Cut(now, "\n")
	for _, printed := range append(kept, first, plain, now) {
		said := i.must(t, "events", "verify", "--witness", printed)
		if !strings.Contains(said, ": ok") || strings.Count(said, "\n") != 2 || !strings.Contains(said, ": tree ok") { // of that log alone
			t.Errorf("--witness %s: %s", printed, said)
		}
	}
	i.must(t, "events", "verify", "--witness", said)
	if said := i.must(t, "events", "verify", "--witness", said, "--log", "organization"); !strings.Contains(said, "organization: ok") {
		t.Errorf("another log's head of the object: %s", said)
	}
	if log, _, _ := strings.Cut(i.must(t, "events", "witness", "--log", "fleet"), ":"); log != "fleet" {
		t.Errorf("the fleet's witness is one of log %s", log)
	}
	for _, another := range []string{"1:" + strings.Repeat("ab", 32), "7:" + strings.Repeat("ab", 32), "0:" + strings.Repeat("ab", 32)} {
		i.fail(t, []string{"events", "verify", "--witness", another}, "does not fit")
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana, bo := i.organization(t, "Acme"), i.organization(t, "Bolt")
	i.request(t, ana, report.Security)
	theirs := i.request(t, bo, report.Security)
	i.request(t, ana, report.DataInventory)
	path := filepath.Join(t.TempDir(), "acme.jsonl")
	i.must(t, "events", "export", "--log", "reports", "--in", "Acme", "--file", path)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(content), theirs.String()) || strings.Contains(i.must(t, "events", "export", "--in", "Acme"), theirs.String()) {
		t.Error("the export shows another organization's report")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the export: %v %v", info.Mode(), err)
	}
	i.fail(t, []string{"events", "export", "--file", path}, path, "exists")
	i.fail(t, []string{"events", "export", "--in", "Cargo"}, "Cargo")

	// Whoever verifies it has no database.
	if got := muster(t, "events", "verify", "--export", path); got.status != 0 || !strings.Contains(got.out, "reports: ok, 3 events") {
		t.Errorf("%+v", got)
	}
	// And knows whose history it is by keys that were kept.
	keys := fileWith(t, "keys.json", i.must(t, "keys", "export"))
	signed := muster(t, "events", "verify", "--export", path, "--keys", keys, "--json")
	var verdict struct {
		OK   bool
		Logs []prove.LogVerified
	}
	if err := json.Unmarshal([]byte(signed.out), &verdict); err != nil || signed.status != 0 || !verdict.OK || len(verdict.Logs) != 1 || !strings.Contains(verdict.Logs[0].Sentences[1], "signed by key") {
		t.Errorf("%v: %s%s", err, signed.out, signed.errors)
	}
	unsigned := fileWith(t, "unsigned.jsonl", regexp.MustCompile(`,"publicKey":"[^"]*","signature":"[^"]*"\}`).ReplaceAllString(string(content), "}"))
	stranger := installed{url: pgtest.EmptyURL(t), dir: t.TempDir()}
	theirKeys := fileWith(t, "their-keys.json", stranger.must(t, "keys", "export"))
	for name, test := range map[string][2]string{"unsigned": {unsigned, keys}, "another's keys": {path, theirKeys}, "no keys": {path, "/no/such/file"}} {
		if got := muster(t, "events", "verify", "--export", test[0], "--keys", test[1]); got.status != command.ExitCannotTell {
			t.Errorf("%s: it ends with %d: %s%s", name, got.status, got.out, got.errors)
		}
	}
	// What belongs to others is counted, and an event that is made opaque is found.
	if got := muster(t, "events", "verify", "--export", path, "--keys", keys); !strings.Contains(got.out, "1 of 3 events are opaque") {
		t.Errorf("it does not count what is opaque:\n%s", got.out)
	}
	verifiedByOthers(t, 0, "--keys", keys, path)
	lines := strings.SplitAfter(string(content), "\n")
	lines[3] = regexp.MustCompile(`,"event":\{.*\}\}`).ReplaceAllString(lines[3], "}")
	hidden := fileWith(t, "hidden.jsonl", strings.Join(lines, ""))
	if got := muster(t, "events", "verify", "--export", hidden, "--keys", keys); got.status != command.ExitFailed || !strings.Contains(got.out, "reports:3 hidden") {
		t.Errorf("with an event made opaque it ends with %d:\n%s", got.status, got.out)
	}
	verifiedByOthers(t, 1, "--keys", keys, hidden)
	if got := muster(t, "verify", "--offline", "--keys", keys, path); got.status != 0 || !strings.Contains(got.out, "This is log reports up to ") {
		t.Errorf("verify --offline ends with %d: %s%s", got.status, got.out, got.errors)
	}
	if got := muster(t, "verify", "--offline", "--keys", keys, path, hidden); got.status != command.ExitFailed {
		t.Errorf("with an event made opaque, verify --offline ends with %d: %s%s", got.status, got.out, got.errors)
	}
	moved := fileWith(t, "moved.jsonl", strings.Replace(string(content), `"position":3,`, `"position":2,`, 1))
	if got := muster(t, "events", "verify", "--export", moved, "--keys", keys); got.status != command.ExitFailed {
		t.Errorf("with another head it ends with %d: %s%s", got.status, got.out, got.errors)
	}
	tampered := fileWith(t, "tampered.jsonl", strings.Replace(string(content), `DataInventory`, `Security`, 1))
	got := muster(t, "events", "verify", "--export", tampered)
	got.failed(t, "does not fit")
	if !strings.Contains(got.out, "reports:3") || !strings.Contains(got.out, "altered") {
		t.Errorf("it does not name the event:\n%s", got.out)
	}
	for name, text := range map[string]string{"empty": "", "prose": "Dear auditor,", "another": `{"format":"x"}`} {
		muster(t, "events", "verify", "--export", fileWith(t, name, text)).failed(t, "not an export")
	}
	muster(t, "events", "verify", "--export", "/no/such/file").failed(t, "/no/such/file")
}

func TestProjections(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.request(t, i.organization(t, "Acme"), report.Security)
	// A rebuild brings the new one as far as the one it replaces, and no further.
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		if err := in.Runner.Prepare(ctx); err != nil {
			return err
		}
		ctx, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- in.Runner.Run(ctx) }()
		defer func() { stop(); <-ended }()
		for _, log := range []eventstore.Log{eventstore.Reports, eventstore.Organization} {
			if _, err := in.Runner.CatchUp(ctx, log); err != nil {
				return err
			}
		}
		return nil
	})
	for _, name := range []string{"report_history", "audit", "fleet", "exceptions"} {
		i.fail(t, []string{"projections", "diff", name}, "not been rebuilt")
		// No server runs: the command itself fills.
		said := i.must(t, "projections", "rebuild", name, "--stop-on-difference=false")
		if !strings.Contains(said, name+" is rebuilt and live") {
			t.Errorf("it says %s", said)
		}
		if said := i.must(t, "projections", "diff", name); said != "no difference\n" {
			t.Errorf("the difference is %q", said)
		}
		if said := i.must(t, "projections", "list"); !regexp.MustCompile(`(?m)^` + name + ` +running .* 0 events`).MatchString(said) {
			t.Errorf("after the rebuild of %s:\n%s", name, said)
		}
	}
}

// takesSPKI checks a head with the key as the document of keys has it: a key of 32 bytes in
// the DER of SPKI. Another key is told, and what is no key is one of usage.
func takesSPKI(t *testing.T, head string, key ed25519.PublicKey) {
	t.Helper()
	check := func(key any) outcome {
		der, ok := key.([]byte)
		if !ok {
			var err error
			if der, err = x509.MarshalPKIXPublicKey(key); err != nil {
				t.Fatal(err)
			}
		}
		return muster(t, "events", "head", "--check", head, "--key", base64.StdEncoding.EncodeToString(der))
	}
	if got := check(key); got.status != 0 {
		t.Errorf("the key of the document is refused: %s", got.errors)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	check(other).failed(t, "not signed by this key")
	if got := check([]byte(key[1:])); got.status != command.ExitUsage || !strings.Contains(got.errors, "neither a key of 32 bytes nor") {
		t.Errorf("31 bytes end with %d: %s", got.status, got.errors)
	}
}
