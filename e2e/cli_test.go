package e2e

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/testing/pgtest"
)

// within lends a test the opened installation, for what no command shows.
func (i installed) within(t testing.TB, work func(ctx context.Context, in *installation.Installation) error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	cfg := config.Bind(flags)
	if err := errors.Join(flags.Parse(i.flags()), cfg.Validate()); err != nil {
		t.Fatal(err)
	}
	err := installation.WithAccess(t.Context(), cfg, installation.Access{Pool: 4, Files: true, Measured: true}, func(in *installation.Installation) error { return work(t.Context(), in) })
	if err != nil {
		t.Fatal(err)
	}
}

// signsIn says whether a password is that of an account.
func (i installed) signsIn(t testing.TB, email, password string) (ok bool) {
	t.Helper()
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		_, _, err := in.Accounts.SignIn(ctx, email, password, accounts.Client{IP: "192.0.2.1"})
		var refused *accounts.Refusal
		if errors.As(err, &refused) && refused.Code == accounts.CodeInvalidCredentials {
			return nil
		}
		ok = err == nil
		return err
	})
	return ok
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	i := installed{url: pgtest.EmptyURL(t), dir: t.TempDir()}
	before := i.must(t, "migrate", "status")
	if steps := strings.Count(before, "\n"); steps < 6 || strings.Count(before, "pending") != steps {
		t.Errorf("an empty database has status\n%s", before)
	}
	var tables int
	if err := pgtest.Connect(t, i.url).Get(&tables, `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace`); err != nil || tables > 0 {
		t.Errorf("asking for the status made %d tables, %v", tables, err)
	}
	for range 2 { // the second time there is nothing to do, which is fine
		i.must(t, "migrate", "up")
	}
	if after := i.must(t, "migrate", "status"); strings.Contains(after, "pending") || strings.Count(after, "\n") != strings.Count(before, "\n") {
		t.Errorf("after migrate up:\n%s", after)
	}
	pgtest.Connect(t, i.url).MustExec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (90000, true)`)
	i.fail(t, []string{"migrate", "up"}, "schema version 90000", "newer Muster")
	i.fail(t, []string{"events", "verify"}, "schema version 90000", "newer Muster")
}

func TestDatabaseThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"migrate status", "migrate up", "events verify", "dead list"} {
		got := muster(t, append(strings.Fields(command), "--data-dir", t.TempDir(),
			"--database-url", "postgres://muster:hunter2@127.0.0.1:1/muster?connect_timeout=5")...)
		got.failed(t, "127.0.0.1")
		if strings.Contains(got.errors, "hunter2") {
			t.Errorf("the password is in %q", got.errors)
		}
	}
}

func TestOrganizations(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.fail(t, []string{"admin", "create", "--email", "ana@acme.example", "--name", "Ana"}, "no organization yet", "organization create")
	said := i.must(t, "organization", "create", "--name", "Acme", "--admin-email", "Ana@Acme.example", "--admin-password-file", passwordFile(t))
	if !strings.Contains(said, "Acme") || !regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).MatchString(said) {
		t.Errorf("it says %q", said)
	}
	if !i.signsIn(t, "ana@acme.example", password) {
		t.Error("the administrator cannot sign in")
	}
	for name, test := range map[string]struct{ admin, file, want string }{
		"address that is taken":  {"ana@acme.example", passwordFile(t), "has an account already"},
		"no address":             {"ana", passwordFile(t), "address"},
		"no file":                {"bo@acme.example", "/no/such/file", "/no/such/file"},
		"weak password":          {"bo@acme.example", fileWith(t, "weak", "short"), "password"},
		"password from the list": {"bo@acme.example", fileWith(t, "known", "passwordpassword"), "password"},
	} {
		got := i.muster(t, "organization", "create", "--name", "Bolt", "--admin-email", test.admin, "--admin-password-file", test.file)
		got.failed(t, test.want)
		if t.Failed() {
			t.Fatalf("%s: %+v", name, got)
		}
	}
	if left := i.must(t, "events", "list", "--log", "organization"); strings.Contains(left, "Bolt") {
		t.Errorf("a refused organization is in the log:\n%s", left)
	}
	i.organization(t, "Bolt")
	i.fail(t, []string{"events", "replay"}, "several organizations")
	i.fail(t, []string{"events", "replay", "--in", "Cargo"}, `"Cargo"`)
	i.must(t, "events", "replay", "--in", "Bolt")
}

func TestAdministrators(t *testing.T) {
	t.Parallel()
	i := install(t)
	first := i.organization(t, "Acme")
	said := i.must(t, "admin", "create", "--email", "bo@acme.example", "--name", "Bo")
	made := regexp.MustCompile(`(?m)^password: (\S{20,})$`).FindStringSubmatch(said)
	if made == nil || !i.signsIn(t, "bo@acme.example", made[1]) {
		t.Fatalf("the password that was made signs nobody in:\n%s", said)
	}
	if said := i.must(t, "admin", "create", "--email", "cy@acme.example", "--name", "Cy", "--password-file", passwordFile(t)); strings.Contains(said, password) {
		t.Errorf("a given password is repeated: %s", said)
	}
	i.fail(t, []string{"admin", "create", "--email", "bo@acme.example", "--name", "Bo"}, "has an account already")

	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		token, _, err := in.Accounts.SignIn(ctx, first, password, accounts.Client{})
		if err != nil {
			return err
		}
		reset := i.must(t, "admin", "reset-password", "--email", first)
		if _, err := in.Accounts.SessionPrincipal(ctx, token); err == nil {
			t.Error("the session outlived the reset")
		}
		again := regexp.MustCompile(`(?m)^password: (\S{20,})$`).FindStringSubmatch(reset)
		if again == nil || !i.signsIn(t, first, again[1]) || i.signsIn(t, first, password) {
			t.Errorf("the reset says %s, and the old password works: %v", reset, i.signsIn(t, first, password))
		}
		return nil
	})
	i.fail(t, []string{"admin", "reset-password", "--email", "nobody@acme.example"}, "nobody@acme.example")
	pgtest.Connect(t, i.url).MustExec(`UPDATE members SET status = 'disabled' WHERE email = 'cy@acme.example'`)
	i.fail(t, []string{"admin", "reset-password", "--email", "cy@acme.example"}, "cy@acme.example is disabled", "admin create")
	i.organization(t, "Bolt")
	i.fail(t, []string{"admin", "create", "--email", "di@acme.example", "--name", "Di"}, "several organizations")
	if said := i.must(t, "admin", "create", "--email", "di@acme.example", "--name", "Di", "--in", "Bolt"); !strings.Contains(said, "of Bolt") {
		t.Errorf("it says %s", said)
	}
}

func TestSetupLink(t *testing.T) {
	t.Parallel()
	i := install(t)
	pattern := regexp.MustCompile(`^http://127\.0\.0\.1:8080/setup#token=[A-Za-z0-9_-]{32,}\n$`)
	first, second := i.must(t, "setup-link"), i.must(t, "setup-link")
	if !pattern.MatchString(first) || first == second {
		t.Errorf("two links: %q, %q", first, second)
	}
	if elsewhere := i.must(t, "setup-link", "--public-url", "https://muster.example.org"); !strings.HasPrefix(elsewhere, "https://muster.example.org/setup#token=") {
		t.Errorf("under another address the link is %q", elsewhere)
	}
	r := servingHere(t, append(i.flags(), "--listen=127.0.0.1:0", "--roles=api")...)
	if served := i.must(t, "setup-link"); !strings.HasPrefix(served, r.base+"/setup#token=") {
		t.Errorf("the server is at %s, and the link is %q", r.base, served)
	}
	r.stop(t)
	if elsewhere := i.must(t, "setup-link", "--listen", "127.0.0.1:8099"); !strings.HasPrefix(elsewhere, "http://127.0.0.1:8099/setup#token=") {
		t.Errorf("under another address the link is %q", elsewhere)
	}
	i.organization(t, "Acme")
	i.fail(t, []string{"setup-link"}, "an administrator exists", "reset-password")
}

func TestTokens(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	for _, test := range []struct{ args, pattern string }{
		{"--kind api", `^mst_pat_[0-9A-Za-z]{36}\n$`},
		{"--kind api --scopes reports:read,ops:read --expires 12h", `^mst_pat_[0-9A-Za-z]{36}\n$`},
		{"--kind ingest --name agent --expires 30d", `^mst_ing_[0-9A-Za-z]{36}\n$`},
	} {
		printed := i.must(t, append([]string{"token", "create", "--email", ana}, strings.Fields(test.args)...)...)
		if !regexp.MustCompile(test.pattern).MatchString(printed) {
			t.Errorf("%s prints %q", test.args, printed)
		}
		i.within(t, func(ctx context.Context, in *installation.Installation) error {
			p, err := in.Accounts.TokenPrincipal(ctx, strings.TrimSpace(printed), "192.0.2.1")
			if err == nil && p.Organization.Name != "Acme" {
				t.Errorf("%s: the token acts in %q", test.args, p.Organization.Name)
			}
			return err
		})
	}
	i.fail(t, []string{"token", "create", "--email", "nobody@acme.example"}, "nobody@acme.example")
	i.fail(t, []string{"token", "create", "--email", ana, "--expires", "400d"}, "year")
}

func TestAnEmptyListOfDeadLetters(t *testing.T) {
	t.Parallel()
	i := install(t)
	if said := i.must(t, "dead", "list"); strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "ID") {
		t.Errorf("an empty list is\n%s", said)
	}
	const unknown = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a55"
	for _, command := range []string{"show", "retry", "drop"} {
		i.fail(t, []string{"dead", command, unknown}, unknown)
	}
}

// TestADeadBuildIsNotRetried: its report has ended, so nothing would come of it,
// and nothing is on record as done.
func TestADeadBuildIsNotRetried(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.request(t, i.organization(t, "Acme"), report.Security)
	var job string
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		row := in.DB.QueryRowxContext(ctx, `UPDATE jobs SET dead_at = now(), attempts = 5, last_error = 'boom',
			endings = job_ending('[]', 5, now(), 'w1', 'failed', 'other', 'boom') WHERE subject = $1 RETURNING id`, id)
		if err := row.Scan(&job); err != nil {
			return err
		}
		tx := in.DB.MustBegin()
		organization := i.events(t, "--stream", id.String())[0].OrganizationID
		_, err := in.Commands.MarkFailed(ctx, tx, organization, id, report.Failed{Code: report.CodeGenerationFailed, Message: "It failed."})
		return errors.Join(err, tx.Commit())
	})
	i.fail(t, []string{"dead", "retry", job}, "report "+id.String()+" is Failed", "request the report again")
	if said := i.must(t, "dead", "show", job); !strings.Contains(said, `"worker": "w1"`) || !strings.Contains(said, `"error": "boom"`) {
		t.Errorf("dead show does not tell how the attempt ended:\n%s", said)
	}
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		var noted int
		err := in.DB.GetContext(ctx, &noted, `SELECT count(*) FROM security_log WHERE type = 'deadLetterRetried'`)
		if noted != 0 {
			t.Errorf("%d retries are on record", noted)
		}
		return err
	})
	i.must(t, "dead", "drop", job)
}
