package e2e

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/cli"
	"muster/internal/cli/command"
)

// TestAnEmptyValueIsRefused walks every command and every flag, as cobra knows them, so that a
// new one is covered: "$FILE" of a shell whose variable is not set must not mean "none".
func TestAnEmptyValueIsRefused(t *testing.T) {
	t.Parallel()
	walked := map[string]bool{}
	untouched := filepath.Join(t.TempDir(), "untouched")
	for _, cmd := range everyCommand(cli.Root(new(bool))) {
		if !cmd.Runnable() {
			continue
		}
		path := strings.Fields(cmd.CommandPath())[1:]
		var flags []*pflag.Flag
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
		if cmd.Name() == "serve" { // the settings
			cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
		}
		for _, f := range flags {
			for _, empty := range []string{"", " "} {
				walked[f.Name] = true
				if cli.MayBeEmpty[f.Name] != "" { // and serve would start
					continue
				}
				got := muster(t, append(path, filled(cmd, f.Name, untouched, "--"+f.Name+"="+empty)...)...)
				if got.status != command.ExitUsage || !strings.Contains(got.errors, "--"+f.Name) || got.out != "" {
					t.Errorf("%s --%s=%q ends with %d: %s%s", cmd.CommandPath(), f.Name, empty, got.status, got.out, got.errors)
				}
			}
		}
		if _, arguments, _ := strings.Cut(cmd.Use, " "); arguments != "" && arguments[0] >= 'A' && arguments[0] <= 'Z' {
			got := muster(t, append(path, filled(cmd, "", untouched, "")...)...)
			if got.status != command.ExitUsage || !strings.Contains(got.errors, "argument 1 is empty") && !strings.Contains(got.errors, `""`) {
				t.Errorf("%s with an empty argument ends with %d: %s%s", cmd.CommandPath(), got.status, got.out, got.errors)
			}
		}
	}
	for name := range cli.MayBeEmpty {
		if !walked[name] {
			t.Errorf("--%s may be empty, and is no flag", name)
		}
	}
}

// notRead are the flags that say something of a file, and name none that has to be there.
var notRead = map[string]string{
	"agent check --report":   "it is made",
	"events export --file":   "it is made",
	"evidence --proof":       "it is made",
	"reports rebuild --file": "it is made",
	"reports rebuild --name": "a file of a report",
	"feed update --sha256":   "a digest",
	"serve --data-dir":       "the first start makes it",
}

// besides is what a command is given beside a flag that names a file, so that nothing else is
// wrong: FILE is a file that is there, EXPORT one of 'muster events export'.
var besides = map[string]string{
	"admin create --password-file":              "--email a@b.example --name A",
	"admin reset-password --password-file":      "--email a@b.example",
	"agent check --token-file":                  "--config FILE",
	"agent run --config":                        "--server http://127.0.0.1:1 --token-file FILE",
	"agent run --token-file":                    "--server http://127.0.0.1:1 --config FILE",
	"events verify --keys":                      "--export EXPORT",
	"evidence --keys":                           "--verify FILE",
	"evidence --verify":                         "--keys FILE",
	"organization create --admin-password-file": "--name A --admin-email a@b.example",
	"reports rebuild --against":                 "--inputs FILE --verify",
	"serve --admin-password-file":               "--admin-email a@b.example",
	"serve --oidc-client-secret-file":           "--oidc-issuer http://127.0.0.1:1 --oidc-client-id muster",
	"serve --signing-cert-file":                 "--signing-key-file FILE",
	"serve --signing-key-file":                  "--signing-cert-file FILE",
	"verify --checkpoint":                       "--offline --keys FILE FILE",
	"verify --consistency":                      "--offline --keys FILE FILE",
	"verify --keys":                             "--offline FILE",
	"verify --proof":                            "--offline --keys FILE FILE",
	"verify --trust":                            "--offline FILE",
	"verify --tsa-ca":                           "--offline --keys FILE FILE",
	"verify --witnesses":                        "--offline --keys FILE FILE",
}

// TestAMissingFileIsNamed: it walks every flag that says it takes a file, and every command that takes one as
// its argument.
func TestAMissingFileIsNamed(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	missing, there := filepath.Join(t.TempDir(), "missing"), filepath.Join(t.TempDir(), "there")
	write(t, there, []byte("{}"))
	export := filepath.Join(t.TempDir(), "export")
	i.must(t, "events", "export", "--file", export)
	named := func(what string, args ...string) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // of serve, if it started
		defer cancel()
		var out, errors bytes.Buffer
		status := cli.Run(ctx, append(args, i.flags()...), &out, &errors)
		if _, flag, _ := strings.Cut(what, "--"); status == 0 || !strings.Contains(errors.String(), missing) && !strings.Contains(errors.String(), "--"+flag) {
			t.Errorf("%s ends with %d: %s%s", what, status, out.String(), errors.String())
		}
	}
	for _, cmd := range everyCommand(cli.Root(new(bool))) {
		path := strings.TrimPrefix(cmd.CommandPath(), "muster ")
		if cmd.Runnable() && strings.Contains(cmd.Use, " FILE") && !strings.Contains(cmd.Use, "-- FILE") && cmd.Args != nil && cmd.Args(cmd, nil) != nil {
			named(path, append(strings.Fields(path), missing)...)
		}
		flags := cmd.LocalFlags()
		if cmd.Name() == "serve" {
			flags, path = cmd.InheritedFlags(), path+" --listen 127.0.0.1:0" // some files are read when it listens
		}
		flags.VisitAll(func(f *pflag.Flag) {
			of := strings.TrimPrefix(cmd.CommandPath(), "muster ") + " --" + f.Name
			file := regexp.MustCompile(`\bfiles?\b|keys|certificates|proof|servers are`).MatchString(f.Usage) && f.Value.Type() != "bool" || besides[of] != ""
			if !cmd.Runnable() || !file || notRead[of] != "" || f.NoOptDefVal != "" {
				return
			}
			more := strings.Fields(strings.NewReplacer("FILE", there, "EXPORT", export).Replace(besides[of]))
			named(of, append(append(strings.Fields(path), "--"+f.Name, missing), more...)...)
		})
	}
}

// TestVerifyingNoEventFails: an id of which there is no event.
func TestVerifyingNoEventFails(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	i.fail(t, []string{"events", "verify", "--organization", uuid.NewString()}, "--organization", "none was verified")
}

// filled is a command line with all flags that a command needs, but for one, and more behind
// them; nothing of it is there.
func filled(cmd *cobra.Command, but, dir string, more string) []string {
	args := []string{more}
	if but != "data-dir" {
		args = append(args, "--data-dir", dir)
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if len(f.Annotations[cobra.BashCompOneRequiredFlag]) > 0 && f.Name != but {
			args = append(args, "--"+f.Name, "x")
		}
	})
	if _, arguments, _ := strings.Cut(cmd.Use, " "); but != "" && arguments != "" && arguments[0] >= 'A' && arguments[0] <= 'Z' {
		args = append(args, "x")
	}
	return args
}
