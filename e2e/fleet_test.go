package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/exception"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/cli"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/cli/operate"
	"muster/internal/intake/collect"
	"muster/internal/intake/heartbeat"
	"muster/internal/operate/fleetfile"
	"muster/internal/secrets/secretref"
	"muster/internal/testing/pgtest"
)

// fleetFile is a file with a secret beside it, that entries name as passwordFile.
func fleetFile(t testing.TB, text string) string {
	t.Helper()
	path := fileWith(t, "fleet.yaml", text)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "secret"), []byte(plantedInFile+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Secrets that are planted: nothing that is printed, logged or kept holds them.
const (
	plantedInFile     = "heron-in-a-file"
	plantedInVariable = "heron-in-a-variable"
)

// watchedAt is a connection string for the watched server, without a password.
func watchedAt(t testing.TB) string {
	t.Helper()
	return "postgres://" + pgtest.Superuser + "@" + pgtest.Watched(t).Addr() + "/postgres"
}

// appliesAgain applies a file that is applied twice more: nothing is to be done, and no event comes of it.
func (i installed) appliesAgain(t testing.TB, file string) {
	t.Helper()
	before := len(i.events(t))
	for range 2 {
		if again := i.applies(t, 0, file); !strings.Contains(again.out, "nothing to do") {
			t.Errorf("again it says\n%s", again.out)
		}
	}
	i.applies(t, 0, file, "--dry-run", "--prune")
	if after := len(i.events(t)); after != before {
		t.Errorf("%d events came of applying it again", after-before)
	}
}

// applies runs fleet apply and holds it to an exit status.
func (i installed) applies(t testing.TB, status int, args ...string) outcome {
	t.Helper()
	got := i.muster(t, append([]string{"fleet", "apply"}, args...)...)
	if got.status != status {
		t.Fatalf("fleet apply %s ended with %d, want %d:\n%s%s", strings.Join(args, " "), got.status, status, got.out, got.errors)
	}
	return got
}

// TestFleetFile follows an organization from an empty list to a pruned one.
func TestFleetFile(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	dsn := watchedAt(t)
	text := fmt.Sprintf(`settings: {reportRetentionDays: 60, watch: {silentMinutes: 7}}
instances:
  - {externalId: pg-orders, engine: postgresql, dsn: '%s', passwordFile: secret, classify: values}
  - {externalId: my-1, engine: mysql, host: my01}
exceptions:
  - {checkId: PG-S17, instance: pg-orders, reason: because, until: %s}
`, dsn, time.Now().UTC().AddDate(0, 1, 0).Format(time.RFC3339))
	file := fleetFile(t, text)

	dry := i.applies(t, operate.ExitDiffers, file, "--dry-run")
	for _, want := range []string{
		"Acme, as " + ana + "\n", "~ settings: reportRetentionDays 30 → 60, watch.silentMinutes 5 → 7\n",
		"+ instance pg-orders (postgresql, " + pgtest.Superuser + "@" + pgtest.Watched(t).Addr() + ")\n", "+ instance my-1 (mysql, my01)\n", "+ exception PG-S17 on pg-orders (until ",
		"to add: 3, to change: 1, to remove: 0\n",
	} {
		if !strings.Contains(dry.out, want) {
			t.Errorf("the dry run does not say %q:\n%s", want, dry.out)
		}
	}
	if dry.errors != "" || len(i.events(t, "--log", "fleet")) != 0 {
		t.Errorf("the dry run changed something, or says %q", dry.errors)
	}
	done := i.applies(t, 0, file)
	if difference, _, _ := strings.Cut(dry.out, "\nto add"); !strings.HasPrefix(done.out, difference) || !strings.Contains(done.out, "done: 4 of 4") {
		t.Errorf("it says\n%s", done.out)
	}
	i.appliesAgain(t, file)
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		who, err := in.PrincipalOf(ctx, ana)
		if err != nil {
			return err
		}
		for _, e := range i.events(t) {
			if actor := e.Metadata["actorId"]; e.Type != "organization.created" && e.Type != "member.joined" &&
				(actor != who.Member.ID.String() || !strings.HasPrefix(fmt.Sprint(e.Metadata["requestId"]), "fleet-apply-")) {
				t.Errorf("%s is by %v of %v", e.Type, actor, e.Metadata["requestId"])
			}
		}
		orders := i.stream(t, "pg-orders")
		kept, ok, err := in.Facts.Credentials(ctx, who.Organization.ID, orders)
		if want := strings.Replace(dsn, "@", ":"+plantedInFile+"@", 1); !ok || kept.DSN != want || kept.Classify != "values" || kept.Own {
			t.Errorf("kept is %+v", kept)
		}
		return err
	})

	// A rename, and everything else that can change: the stream stays.
	orders := i.stream(t, "pg-orders")
	changed := strings.NewReplacer("{externalId: pg-orders,", "{externalId: pg-orders, name: Orders, active: false,", "classify: values", "classify: off",
		"host: my01", "host: my02", "reason: because", "reason: again", "silentMinutes: 7", "silentMinutes: 8").Replace(text)
	said := i.applies(t, 0, fleetFile(t, changed)).out
	for _, want := range []string{
		"~ instance pg-orders: name pg-orders → Orders, active true → false, classify values → off\n", "~ instance my-1: host my01 → my02\n",
		`~ exception PG-S17 on pg-orders: reason "because" → "again"`, "~ settings: watch.silentMinutes 7 → 8\n", "to add: 0, to change: 4, to remove: 0",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if now := i.stream(t, "pg-orders"); now != orders {
		t.Errorf("the rename made another instance: %s, %s", orders, now)
	}
	i.applies(t, 0, fleetFile(t, changed), "--prune", "--dry-run")

	// What is not named stays, and goes with --prune alone.
	short := "instances: [{externalId: my-1, engine: mysql}]\nexceptions: []\n"
	left := i.applies(t, 0, fleetFile(t, short)).out
	if !strings.Contains(left, "  instance pg-orders \"Orders\" (postgresql, 127.0.0.1): is not in the file and stays\n  exception PG-S17 on pg-orders (until ") {
		t.Errorf("it says\n%s", left)
	}
	pruned := i.applies(t, 0, fleetFile(t, short), "--prune").out
	if !strings.Contains(pruned, "- instance pg-orders \"Orders\" (postgresql, 127.0.0.1)\n- exception PG-S17 on pg-orders (until ") || !strings.Contains(pruned, "done: 2 of 2") {
		t.Errorf("it says\n%s", pruned)
	}
	db := pgtest.Connect(t, i.url)
	var kept int
	if err := db.Get(&kept, `SELECT count(*) FROM assessment_targets`); err != nil || kept != 0 {
		t.Errorf("%d connections are kept of what was removed, %v", kept, err)
	}
	if again := i.applies(t, 0, fleetFile(t, short), "--prune"); !strings.Contains(again.out, "nothing to do") {
		t.Errorf("again it says\n%s", again.out)
	}
	// Declared again it is a new one, and its history is in the log.
	i.applies(t, 0, file)
	if now := i.stream(t, "pg-orders"); now == orders {
		t.Error("what was removed is the same again")
	}
	i.must(t, "events", "verify")
}

// stream is the instance that has an external id now.
func (i installed) stream(t testing.TB, externalID string) (id uuid.UUID) {
	t.Helper()
	for _, e := range i.events(t, "--type", "instance.registered") {
		if e.Data["externalId"] == externalID {
			id = e.StreamID
		}
	}
	return id
}

// TestFleetFileFromStandardInput, as JSON.
func TestFleetFileFromStandardInput(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	given := func(text string, args ...string) (status int, said struct {
		Organization, RequestID string
		DryRun                  bool
		Faults                  []struct {
			Line        int
			Field, Rule string
		}
		Changes, Stays []struct {
			Action, Kind, ExternalID, Called, About, Outcome string
			Differences                                      []struct{ Field, Before, After string }
		}
	}) {
		t.Helper()
		root := cli.Root(new(bool))
		var out strings.Builder
		root.SetArgs(append(append([]string{"fleet", "apply", "-", "--json"}, args...), i.flags()...))
		root.SetIn(strings.NewReader(text))
		root.SetOut(&out)
		var exit *command.ExitError
		if err := root.ExecuteContext(t.Context()); errors.As(err, &exit) {
			status = exit.Status
		} else if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(out.String()), &said); err != nil || strings.Count(out.String(), "\n") != 1 {
			t.Fatalf("%v: %s", err, out.String())
		}
		return status, said
	}
	const text = "instances: [{externalId: my-1, engine: mysql, name: First}]\nsettings: {paperSize: Letter}"
	status, said := given(text, "--dry-run")
	if status != operate.ExitDiffers || !said.DryRun || said.Organization != "Acme" || len(said.Changes) != 2 || said.Changes[1].Outcome != "" {
		t.Errorf("%d %+v", status, said)
	}
	status, said = given(text)
	if status != 0 || said.DryRun || said.RequestID == "" || len(said.Changes) != 2 {
		t.Fatalf("%d %+v", status, said)
	}
	settings, first := said.Changes[0], said.Changes[1]
	if settings.Action != "change" || settings.Kind != "settings" || settings.Outcome != "done" || fmt.Sprint(settings.Differences) != "[{paperSize A4 Letter}]" {
		t.Errorf("%+v", settings)
	}
	if first.Action != "add" || first.Kind != "instance" || first.ExternalID != "my-1" || first.Called != `my-1 "First"` || first.About != "mysql" || first.Outcome != "done" {
		t.Errorf("%+v", first)
	}
	if status, said = given("instances: []"); status != 0 || len(said.Changes) != 0 || len(said.Stays) != 1 || said.Stays[0].Action != "stay" {
		t.Errorf("%d %+v", status, said)
	}
	if status, said = given("instances: [{externalId: my-1, engine: mssql}]"); status != command.ExitFailed || len(said.Faults) != 1 || said.Faults[0].Line != 1 || said.Faults[0].Field != "instances[0].engine" {
		t.Errorf("%d %+v", status, said)
	}
	if status, said = given("instances: [{externalId: my-1, engine: oracle}]"); status != command.ExitFailed || len(said.Faults) != 1 || len(said.Changes) != 0 {
		t.Errorf("%d %+v", status, said)
	}
}

// TestABadFileChangesNothing, and all that is wrong is told, one fault a line.
func TestABadFileChangesNothing(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	before := len(i.events(t))
	file := fleetFile(t, `instances:
  - {externalId: my-1, engine: mysql}
  - {externalId: pg-1, engine: postgresql, dsn: 'postgres://u:`+plantedInFile+`@db01/d'}
  - {externalId: pg-2, engine: postgresql, dns: x, classify: all}
`)
	got := i.applies(t, command.ExitFailed, file)
	got.failed(t, "refused as a whole, faults: 3; nothing was changed")
	want := []string{file + ":3: instances[1].dsn holds a password in the clear; ", file + ":4: instances[2].dns is not known here; ", file + ":4: instances[2].classify must be one of off, names, values"}
	for n, line := range strings.Split(strings.TrimSpace(got.out), "\n") {
		if n >= len(want) || !strings.HasPrefix(line, want[n]) {
			t.Errorf("line %d is %q", n, line)
		}
	}
	if strings.Contains(got.out+got.errors, plantedInFile) {
		t.Error("a password is repeated")
	}
	// What only the organization shows.
	i.applies(t, 0, fleetFile(t, "instances: [{externalId: my-1, engine: mysql}]"))
	before++
	got = i.applies(t, command.ExitFailed, fleetFile(t, "instances: [{externalId: new, engine: mysql}, {externalId: my-1, engine: mongodb}]\nexceptions: [{checkId: PG-S17, instance: pg-9, reason: x, until: "+time.Now().UTC().AddDate(0, 1, 0).Format(time.RFC3339)+"}]"))
	if strings.Count(got.out, "\n") != 2 || !strings.Contains(got.out, ":1: instances[1].engine is mysql") || !strings.Contains(got.out, ":2: exceptions[0].instance is the externalId of no instance") {
		t.Errorf("it says\n%s", got.out)
	}
	if after := len(i.events(t)); after != before {
		t.Errorf("%d events came of files that were refused", after-before)
	}
	// Nobody can tell, and nothing was changed.
	i.applies(t, command.ExitCannotTell, filepath.Join(t.TempDir(), "nobody.yaml")).says(t, "no such file")
	away := installed{url: "postgres://muster:hunter2@127.0.0.1:1/muster?connect_timeout=5", dir: t.TempDir()}
	away.applies(t, command.ExitCannotTell, fleetFile(t, "instances: []")).says(t, "127.0.0.1")

	// Who may.
	for args, want := range map[string]string{
		"--email nobody@acme.example":   "no account has the address",
		"--email " + ana + " --in Bolt": "no account of Bolt",
		"--in Bolt":                     `"Bolt"`,
	} {
		i.applies(t, command.ExitFailed, append([]string{file2(t)}, strings.Fields(args)...)...).failed(t, want)
	}
	i.must(t, "admin", "create", "--email", "bo@acme.example", "--name", "Bo")
	i.applies(t, command.ExitFailed, file2(t)).failed(t, "2 administrators", "--email")
	pgtest.Connect(t, i.url).MustExec(`UPDATE members SET role = 'member' WHERE email = 'bo@acme.example'`)
	i.applies(t, command.ExitFailed, file2(t), "--email", "bo@acme.example").failed(t, "no active administrator")
	i.applies(t, 0, file2(t), "--email", strings.ToUpper(ana), "--in", "Acme")
}

func file2(t testing.TB) string {
	return fleetFile(t, "instances: [{externalId: my-2, engine: mysql}]")
}

// TestAFleetFileReachesOnlyItsOrganization: the same external ids in another one are other servers, and nothing
// of them is seen or touched.
func TestAFleetFileReachesOnlyItsOrganization(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana, eve := i.organization(t, "Acme"), i.organization(t, "Bolt")
	file := fleetFile(t, "settings: {paperSize: Letter}\ninstances: [{externalId: my-1, engine: mysql, name: Ours}]\nexceptions: [{checkId: PG-S17, instance: my-1, reason: x, until: "+time.Now().UTC().AddDate(0, 1, 0).Format(time.RFC3339)+"}]")
	i.applies(t, command.ExitFailed, file).failed(t, "several organizations")
	i.applies(t, 0, file, "--email", ana)
	theirs := i.applies(t, 0, fleetFile(t, "instances: []\nexceptions: []"), "--email", eve, "--prune")
	if strings.Contains(theirs.out, "my-1") || strings.Contains(theirs.out, "PG-S17") {
		t.Errorf("another organization sees\n%s", theirs.out)
	}
	if said := i.applies(t, 0, file, "--in", "Bolt"); !strings.Contains(said.out, "+ instance my-1 \"Ours\"") || !strings.Contains(said.out, "done: 3 of 3") {
		t.Errorf("it says\n%s", said.out)
	}
	if said := i.applies(t, 0, file, "--email", ana); !strings.Contains(said.out, "nothing to do") {
		t.Errorf("it says\n%s", said.out)
	}
}

// TestAFleetFileWithAnUnreachableServer: the other servers are applied, and the next run goes on.
func TestAFleetFileWithAnUnreachableServer(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	until := time.Now().UTC().AddDate(0, 1, 0).Format(time.RFC3339)
	file := fleetFile(t, fmt.Sprintf(`instances:
  - {externalId: pg-1, engine: postgresql, dsn: '%[1]s', passwordFile: secret}
  - {externalId: pg-down, engine: postgresql, dsn: 'postgres://u@127.0.0.1:1/d', passwordFile: secret}
  - {externalId: pg-own, engine: postgresql, dsn: '%[2]s', passwordFile: secret}
  - {externalId: pg-2, engine: postgresql, dsn: '%[1]s', passwordFile: secret, separate: true}
exceptions:
  - {checkId: PG-S17, instance: pg-down, reason: x, until: %[3]s}
  - {checkId: PG-S17, instance: pg-2, reason: x, until: %[3]s}
`, watchedAt(t), "postgres://"+pgtest.Superuser+"@"+pgtest.Shared(t).Addr()+"/postgres", until))
	got := i.applies(t, command.ExitFailed, file)
	got.failed(t, "3 of 6 changes were applied", "apply the file again")
	for _, want := range []string{
		"not done: instance pg-down: connection_failed: Connection refused at 127.0.0.1:1: ", "not done: instance pg-own: target_not_allowed: ",
		"not done: exception PG-S17 on pg-down: not_found: the instance pg-down is not there\n", "done: 3 of 6",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("it does not say %q:\n%s", want, got.out)
		}
	}
	got = i.applies(t, command.ExitFailed, file, "--unreached")
	got.failed(t, "2 of 3 changes were applied")
	if !strings.Contains(got.out, "not done: instance pg-own: target_not_allowed: ") || strings.Contains(got.out, "instance pg-1") {
		t.Errorf("it says\n%s", got.out)
	}
	if n := len(i.events(t, "--type", "instance.registered")); n != 3 {
		t.Errorf("%d instances are registered", n)
	}
	// A connection that cannot be had leaves the one that is there.
	worse := i.applies(t, command.ExitFailed, fleetFile(t, "instances: [{externalId: pg-1, engine: postgresql, name: Other, dsn: 'postgres://u@127.0.0.1:1/d'}]"))
	worse.failed(t, "0 of 1")
	if again := i.applies(t, command.ExitFailed, file, "--dry-run=false"); strings.Contains(again.out, "instance pg-1") {
		t.Errorf("a change that was refused is half there:\n%s", again.out)
	}
}

// TestADatabaseThatFailsInTheMiddle: what was done is told, and what was not; it goes on.
func TestADatabaseThatFailsInTheMiddle(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	db := pgtest.Connect(t, i.url)
	db.MustExec(`ALTER TABLE stream_keys ADD CONSTRAINT broken CHECK (key <> 'my-2')`)
	file := fleetFile(t, "instances: [{externalId: my-1, engine: mysql}, {externalId: my-2, engine: mysql}, {externalId: my-3, engine: mysql}]")
	got := i.applies(t, command.ExitFailed, file)
	got.failed(t, "1 of 3 changes were applied")
	if !strings.Contains(got.out, "not done: instance my-2: stopped here\nnot done: instance my-3: not tried\ndone: 1 of 3") {
		t.Errorf("it says\n%s", got.out)
	}
	db.MustExec(`ALTER TABLE stream_keys DROP CONSTRAINT broken`)
	if said := i.applies(t, 0, file).out; !strings.Contains(said, "done: 2 of 2") || strings.Contains(said, "my-1") {
		t.Errorf("it says\n%s", said)
	}
}

// TestAnExceptionIsInForceOnce: one that is asked for already (by a member, or by a run
// that was cut off there) is granted, and of two about the same the file's stays.
func TestAnExceptionIsInForceOnce(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	month, year := time.Now().UTC().Truncate(time.Second).AddDate(0, 1, 0), time.Now().UTC().Truncate(time.Second).AddDate(1, 0, -1)
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		who, err := in.PrincipalOf(ctx, ana)
		if err != nil {
			return err
		}
		_, _, err = in.Commands.RequestException(ctx, usecase.Actor{OrganizationID: who.Organization.ID, MemberID: who.Member.ID},
			commands.RequestException{Subject: exception.Subject{CheckID: "PG-S17"}, Reason: "because", Until: month})
		return err
	})
	file := func(until time.Time) string {
		return fleetFile(t, "exceptions: [{checkId: PG-S17, reason: because, until: "+until.Format(time.RFC3339)+"}]")
	}
	for _, c := range []struct {
		until            time.Time
		did              string
		requested, ended int
	}{{month, "+ exception PG-S17 (until", 1, 0}, {year, "~ exception PG-S17: until", 2, 1}, {year, "nothing to do", 2, 1}} {
		said := i.applies(t, 0, file(c.until)).out
		requested, granted, revoked := len(i.events(t, "--type", "exception.requested")), len(i.events(t, "--type", "exception.granted")), len(i.events(t, "--type", "exception.revoked"))
		if !strings.Contains(said, c.did) || requested != c.requested || granted != c.requested || revoked != c.ended {
			t.Errorf("requested %d, granted %d, revoked %d:\n%s", requested, granted, revoked, said)
		}
	}

	fourEyes := fleetFile(t, "settings: {exceptionApproval: another}\nexceptions: [{checkId: PG-S18, reason: because, until: "+month.Format(time.RFC3339)+"}]")
	for range 2 { // asked for once, and granted by nobody here
		said := i.applies(t, 1, fourEyes)
		requested, granted := len(i.events(t, "--type", "exception.requested")), len(i.events(t, "--type", "exception.granted"))
		if !strings.Contains(said.out+said.errors, "own_request") || requested != 3 || granted != 2 {
			t.Errorf("requested %d, granted %d:\n%s%s", requested, granted, said.out, said.errors)
		}
	}
}

// TestAConcurrentChangeToTheFleetStays, and the run that compared the earlier state is refused.
func TestAConcurrentChangeToTheFleetStays(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	dsn := watchedAt(t)
	i.applies(t, 0, fleetFile(t, "instances: [{externalId: pg-1, engine: postgresql, dsn: '"+dsn+"'}, {externalId: pg-2, engine: postgresql, dsn: '"+dsn+"', separate: true}]"))
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		who, err := in.PrincipalOf(ctx, ana)
		if err != nil {
			return err
		}
		of, reader := who.Organization.ID, fleetfile.Reader{Checks: in.Checks, Now: time.Now(), Secrets: secretref.Source{Lookup: func(string) (string, bool) { return "new", true }}}
		file, faults := reader.Read([]byte("settings: {paperSize: Letter}\ninstances: [{externalId: pg-1, engine: postgresql, name: Ours, dsn: '" + strings.Replace(dsn, "@", ":${PW}@", 1) +
			"'}, {externalId: pg-2, engine: postgresql, classify: values}, {externalId: my-1, engine: mysql}]"))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		source := fleetfile.Source{DB: in.DB, Accounts: in.Accounts, Fleet: in.Fleet, Exceptions: in.Exceptions, Servers: in.Facts, Agents: &heartbeat.Store{DB: in.DB}}
		state, err := source.Load(ctx, of, file, time.Now())
		if err != nil {
			return err
		}
		plan, faults := fleetfile.Compare(file, state, false)
		if len(faults) > 0 || len(plan.Changes) != 4 {
			t.Fatal(faults, plan.Changes)
		}
		theirs := strings.Replace(dsn, "@", ":theirs@", 1)
		for _, name := range []string{"pg-1", "pg-2"} {
			if err := in.Facts.SaveCredentials(ctx, in.DB, assessment.Credentials{Organization: of, Instance: i.stream(t, name), Engine: fleet.PostgreSQL, DSN: theirs}); err != nil {
				return err
			}
		}
		i.applies(t, 0, fleetFile(t, "settings: {paperSize: Letter, reportRetentionDays: 3}\ninstances: [{externalId: my-1, engine: mysql, name: Theirs}]"))
		collector, err := collect.New(in.Facts, in.Commands, in.Fleet, in.Accepted(), in.Reach, in.Log, time.Now)
		if err != nil {
			return err
		}
		applier := fleetfile.Applier{DB: in.DB, Commands: in.Commands, Servers: in.Facts, Connections: collector, Actor: usecase.Actor{OrganizationID: of, MemberID: who.Member.ID},
			CatchUp: func(context.Context) error { return nil }}
		if err := applier.Apply(ctx, plan); err != nil {
			return err
		}
		for _, c := range plan.Changes {
			if c.Outcome != fleetfile.NotDone || c.Problem == nil || c.Problem.Code != "precondition_failed" {
				t.Errorf("%s is %s, %+v", c, c.Outcome, c.Problem)
			}
		}
		for _, name := range []string{"pg-1", "pg-2"} {
			if kept, _, err := in.Facts.Credentials(ctx, of, i.stream(t, name)); err != nil || kept.DSN != theirs || kept.Classify != "names" {
				t.Errorf("%s is reached by %+v, %v", name, kept, err)
			}
		}
		return nil
	})
	if said := i.applies(t, 0, fleetFile(t, "instances: []")).out; !strings.Contains(said, `my-1 "Theirs"`) || strings.Contains(said, "Ours") {
		t.Errorf("it says\n%s", said)
	}
}

// held holds the key of an instance, so that whoever registers it waits.
func (i installed) held(t *testing.T, externalID string) (release func()) {
	t.Helper()
	db := pgtest.Connect(t, i.url)
	tx := db.MustBegin()
	t.Cleanup(func() { _ = tx.Rollback() })
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		all, err := in.Accounts.Organizations(ctx)
		if err != nil {
			return err
		}
		_, err = in.Events.LockKeys(ctx, tx, all[0].ID, fleet.InstanceStream, []string{externalID})
		return err
	})
	return func() { _ = tx.Rollback() }
}

// many is a file of n servers that nothing connects to.
func many(t testing.TB, n int) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("instances:\n")
	for k := range n {
		fmt.Fprintf(&text, "  - {externalId: my-%d, engine: mysql}\n", k)
	}
	return fleetFile(t, text.String())
}

// TestTheNextRunFinishesAKilledFleetRun, and does nothing twice.
func TestTheNextRunFinishesAKilledFleetRun(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	file := many(t, 8)
	release := i.held(t, "my-5")
	db := pgtest.Connect(t, i.url)
	killed := launch(t, nil, append([]string{"fleet", "apply", file}, i.flags()...)...)
	eventually(t, "it is in the middle", func() bool { return registered(t, db) == 5 })
	killed.kill(t)
	release()
	if said := i.applies(t, 0, file).out; !strings.Contains(said, "done: 3 of 3") {
		t.Errorf("it says\n%s", said)
	}
	if n := registered(t, db); n != 8 {
		t.Errorf("%d are registered", n)
	}
	// Asked to end, it says how far it came.
	release = i.held(t, "my-9")
	stopped := launch(t, nil, append([]string{"fleet", "apply", many(t, 12)}, i.flags()...)...)
	eventually(t, "it is in the middle", func() bool { return registered(t, db) == 9 && isHeld(t, db) })
	if err := stopped.terminate(); err != nil {
		t.Fatal(err)
	}
	got := stopped.outcome(t)
	release()
	got.failed(t, "1 of 4 changes were applied: stopped; apply the file again")
	if !strings.Contains(got.out, "not done: instance my-9: stopped here\nnot done: instance my-10: not tried\n") {
		t.Errorf("it says\n%s", got.out)
	}
}

// isHeld says that a run waits for what was held: it knows by then that what came before is
// done.
func isHeld(t testing.TB, db *sqlx.DB) (waits bool) {
	t.Helper()
	if err := db.Get(&waits, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`); err != nil {
		t.Fatal(err)
	}
	return waits
}

func registered(t testing.TB, db *sqlx.DB) (n int) {
	t.Helper()
	if err := db.Get(&n, `SELECT count(*) FROM events WHERE type = 'instance.registered'`); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestASecondFleetRunWaitsForTheFirst and finds nothing to do.
func TestASecondFleetRunWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	file := many(t, 6)
	release := i.held(t, "my-3")
	runs := []*running{launchHere(t, append([]string{"fleet", "apply", file}, i.flags()...)...), launchHere(t, append([]string{"fleet", "apply", file}, i.flags()...)...)}
	eventually(t, "one waits for the other", func() bool {
		return strings.Contains(runs[0].logged.String()+runs[1].logged.String(), "another run is at work on this organization")
	})
	release()
	said := ""
	for _, r := range runs {
		got := r.outcome(t)
		if got.status != 0 {
			t.Errorf("ended with %d: %s", got.status, got.errors)
		}
		said += got.out
	}
	if !strings.Contains(said, "done: 6 of 6") || !strings.Contains(said, "nothing to do") {
		t.Errorf("they say\n%s", said)
	}
	if n := registered(t, pgtest.Connect(t, i.url)); n != 6 {
		t.Errorf("%d are registered", n)
	}
}

// TestSecretsOfAFleetStaySecret: in what is printed, logged and kept there is none,
// whichever way it came and whatever went wrong.
func TestSecretsOfAFleetStaySecret(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	server := pgtest.Watched(t).Addr()
	file := fleetFile(t, fmt.Sprintf(`instances:
  - {externalId: by-file, engine: postgresql, dsn: 'postgres://%[1]s@%[2]s/postgres', passwordFile: secret}
  - {externalId: by-variable, engine: postgresql, dsn: 'postgres://%[1]s:${HERON}@%[2]s/postgres', separate: true}
  - {externalId: whole, engine: postgresql, dsn: '${HERON_DSN}', separate: true}
  - {externalId: down, engine: postgresql, dsn: 'postgres://u:${HERON}@127.0.0.1:1/d'}
  - {externalId: no-database, engine: postgresql, dsn: 'postgres://%[1]s:${HERON}@%[2]s/nothing'}
`, pgtest.Superuser, server))
	env := []string{"HERON=" + plantedInVariable, "HERON_DSN=postgres://" + pgtest.Superuser + ":" + plantedInVariable + "@" + server + "/postgres"}
	run := func(status int, env []string, args ...string) string {
		t.Helper()
		got := launch(t, env, append(append([]string{"fleet", "apply", "--log-level", "debug"}, args...), i.flags()...)...).outcome(t)
		if got.status != status {
			t.Errorf("%v ended with %d, want %d: %s%s", args, got.status, status, got.out, got.errors)
		}
		return got.out + got.errors
	}
	said := run(command.ExitFailed, env, file)
	if !strings.Contains(said, "done: 3 of 5") {
		t.Errorf("it says\n%s", said)
	}
	said += run(command.ExitFailed, []string{env[0], "HERON_DSN=" + plantedInVariable + "://"}, file, "--dry-run")
	other := strings.Replace(env[1], plantedInVariable, plantedInVariable+"-other", 1)
	said += run(operate.ExitDiffers, []string{env[0], other}, file, "--dry-run", "--json")
	if !strings.Contains(said, `"other":["password"]`) {
		t.Errorf("it does not say that the password is another:\n%s", said)
	}
	for _, secret := range []string{plantedInFile, plantedInVariable} {
		if strings.Contains(said, secret) {
			t.Errorf("it says a secret:\n%s", said)
		}
		if found := pgtest.Mentions(t, pgtest.Connect(t, i.url), secret); len(found) > 0 {
			t.Errorf("a secret is in the database: %v", found)
		}
	}
}

// TestManyServers of which one is down. The time is printed.
func TestManyServers(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	var text strings.Builder
	text.WriteString("instances:\n")
	const servers = 60
	for k := range servers {
		dsn := watchedAt(t)
		if k == servers/2 {
			dsn = "postgres://u@127.0.0.1:1/d"
		}
		fmt.Fprintf(&text, "  - {externalId: pg-%03d, engine: postgresql, dsn: '%s', passwordFile: secret, separate: true}\n", k, dsn)
	}
	file := fleetFile(t, text.String())
	began := time.Now()
	got := i.applies(t, command.ExitFailed, file)
	first := time.Since(began)
	if !strings.Contains(got.out, fmt.Sprintf("done: %d of %d", servers-1, servers)) {
		t.Errorf("it says\n%s", got.out)
	}
	began = time.Now()
	got = i.applies(t, operate.ExitDiffers, file, "--dry-run")
	if !strings.Contains(got.out, "to add: 1, to change: 0, to remove: 0") {
		t.Errorf("it says\n%s", got.out)
	}
	t.Logf("%d servers: %s, compared again: %s", servers, first.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
}

// TestAFleetBesideServe: what is declared is collected, and what a feed sends is not
// pruned away; the audit list says who did it.
func TestAFleetBesideServe(t *testing.T) {
	t.Parallel()
	h := newHouse(t) // watches pg-live, which was registered over the API
	now := time.Now().UTC().Truncate(time.Second)
	h.ana.call(t, 200, "POST", "/ingest/v1/fleet", map[string]any{"instances": []map[string]any{
		{"externalId": "sent", "name": "sent", "engine": "oracle", "createdAt": now, "databases": []map[string]any{{"externalId": "erp", "name": "erp", "createdAt": now}}},
		{"externalId": "told-of", "name": "told-of", "engine": "oracle", "createdAt": now},
		{"externalId": "silent", "name": "silent", "engine": "oracle", "createdAt": now},
	}}, nil)
	h.ana.call(t, 202, "POST", "/ingest/v1/samples", map[string]any{"hosts": []any{}, "statements": []any{}, "sessions": []map[string]any{{
		"instance": "sent", "database": "erp", "at": now, "active": 1, "idle": 0, "waiting": 0, "idleInTransaction": 0, "other": 0, "waits": map[string]int{},
	}}}, nil)
	h.within(t, func(ctx context.Context, in *installation.Installation) error { // of an agent that cannot reach its server
		of, err := in.OrganizationNamed(ctx, "")
		if err != nil {
			return err
		}
		return (&heartbeat.Store{DB: in.DB}).Keep(ctx, heartbeat.Report{Organization: of.ID, Sender: "a", Instances: []heartbeat.Instance{{ID: h.stream(t, "told-of")}}})
	})
	file := fleetFile(t, fmt.Sprintf("instances:\n  - {externalId: %s, engine: postgresql, name: Live}\n  - {externalId: pg-new, engine: postgresql, dsn: '%s', separate: true}\n", h.live, watchedAt(t)))
	said := h.applies(t, 0, file, "--prune").out
	if !strings.Contains(said, "~ instance "+h.live.String()+" \"pg-live\": name pg-live → Live\n+ instance pg-new ") || !strings.Contains(said, "- instance silent (oracle)\n") ||
		!strings.Contains(said, "  instance told-of (oracle): is not in the file and stays: a feed or an agent sends it") ||
		!strings.Contains(said, "  instance sent (oracle): is not in the file and stays: a feed or an agent sends it") {
		t.Errorf("it says\n%s", said)
	}
	eventually(t, "the new server is assessed", func() bool {
		var listed struct {
			Items []struct {
				Name           string
				Collected      bool
				LastAssessedAt *string
			}
		}
		h.ana.get(t, "/api/v1/instances", &listed)
		for _, i := range listed.Items {
			if i.Name == "pg-new" {
				return i.Collected && i.LastAssessedAt != nil
			}
		}
		return false
	})
	var audit struct {
		Items []struct {
			Type  string
			Actor struct{ Name string }
		}
	}
	h.ana.get(t, "/api/v1/audit-events?type=instanceRegistered&limit=1", &audit)
	if len(audit.Items) != 1 || audit.Items[0].Actor.Name != "ana" {
		t.Errorf("the audit list says %+v", audit)
	}
}

// TestTheFileOfTheGuide is applied as docs/administrators.md has it, but for addresses
// and the date, and prints what stands there.
func TestTheFileOfTheGuide(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	guide := readText(t, "docs/administrators.md")
	text := regexp.MustCompile("(?s)```yaml\n(# fleet.yaml\n.*?)```").FindStringSubmatch(guide)
	shown := regexp.MustCompile("(?s)```\n\\$ muster fleet apply fleet.yaml --dry-run\n(.*?)```").FindStringSubmatch(guide)
	if text == nil || shown == nil {
		t.Fatal("the guide has no file, or not what it prints")
	}
	until := time.Now().UTC().AddDate(0, 6, 0).Format(time.RFC3339)
	here := strings.NewReplacer("db01:5432", "127.0.0.1:1", "db02:5432", "127.0.0.1:2", "db03:5432", "127.0.0.1:3", "ms01:1433", "127.0.0.1:4", "ora01:1521", "127.0.0.1:5", "2027-06-01T00:00:00Z", until, "My organization, as ana@example.org", "Acme, as "+ana, "{ana@example.org:", "{"+ana+":", "[ana@example.org]", "["+ana+"]")
	file := fileWith(t, "fleet.yaml", here.Replace(text[1]))
	secrets := filepath.Join(filepath.Dir(file), "secrets")
	if err := os.Mkdir(secrets, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"pg-billing": "heron\n", "pg-archive.dsn": "postgres://muster:heron@127.0.0.1:3/postgres\n"} {
		if err := os.WriteFile(filepath.Join(secrets, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	apply := func(args ...string) outcome {
		return launch(t, []string{"PG_ORDERS_PASSWORD=heron", "MS_SHOP_PASSWORD=heron", "ORA_HR_PASSWORD=heron"}, append(append([]string{"fleet", "apply", file}, args...), i.flags()...)...).outcome(t)
	}
	if dry := apply("--dry-run"); dry.status != operate.ExitDiffers || dry.out != here.Replace(shown[1]) {
		t.Errorf("ended with %d\n%s%s\nthe guide has\n%s", dry.status, dry.out, dry.errors, here.Replace(shown[1]))
	}
	if done := apply("--unreached"); done.status != 0 || !strings.Contains(done.out, "done: 15 of 15") {
		t.Errorf("ended with %d\n%s%s", done.status, done.out, done.errors)
	}
	if again := apply("--prune"); again.status != 0 || !strings.Contains(again.out, "nothing to do") {
		t.Errorf("ended with %d\n%s%s", again.status, again.out, again.errors)
	}
}
