package e2e

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/cli"
	"muster/internal/cli/command"
)

// TestWrongUsage holds every way to call the program wrongly to exit status 2,
// all that is wrong at once, and to nothing having been touched.
func TestWrongUsage(t *testing.T) {
	t.Parallel()
	const id = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a55"
	zeros := strings.Repeat("00", 32)
	for line, want := range map[string][]string{
		"frobnicate":          {`unknown command "frobnicate"`},
		"serve --no-such":     {"--no-such"},
		"serve now":           {`"now"`},
		"serve --roles cook":  {"--roles", "cook"},
		"migrate":             {"needs a subcommand"},
		"migrate sideways":    {`"sideways"`},
		"migrate finish now":  {`"now"`},
		"organization":        {"needs a subcommand"},
		"organization create": {"admin-email", "admin-password-file", "name"},
		"organization create --name X --admin-email x": {"admin-password-file"},
		"organization delete":                          {"accepts 1 arg"},
		"admin":                                        {"needs a subcommand"},
		"admin create":                                 {"email", "name"},
		"admin reset-password":                         {"email"},
		"setup-link please":                            {`"please"`},
		"token":                                        {"needs a subcommand"},
		"token create":                                 {"email"},
		"token create --email a@b.example --kind x --scopes nope,ops:read --expires never": {"--kind", `"nope"`, "--expires"},
		"token create --email a@b.example --expires 0d":                                    {"--expires"},
		"token create --email a@b.example --expires -3h":                                   {"--expires"},
		"token create --email a@b.example --kind ingest --scopes ops:read":                 {"--scopes"},
		"projections":                        {"needs a subcommand"},
		"projections rebuild":                {"arg"},
		"projections rebuild a b":            {"arg"},
		"projections rebuild report_histroy": {"report_histroy", "report_history"},
		"projections diff":                   {"arg"},
		"projections diff report_histroy":    {"report_histroy", "report_history"},
		"events":                             {"needs a subcommand"},
		"events list --log x --organization y --stream z --from noon --to midnight": {"--log", "--organization", "--stream", "--from", "--to"},
		"events list --limit many":                               {"--limit"},
		"events list --limit -1":                                 {"--limit"},
		"events replay --as-of yesterday":                        {"--as-of"},
		"events replay --kind Nonsense":                          {"--kind", "Security"},
		"events replay --as-of x --kind y":                       {"--as-of", "--kind"},
		"events verify --log x":                                  {"--log"},
		"events verify --organization x":                         {"--organization"},
		"events verify --witness x":                              {"--witness"},
		"events verify --witness 12:abc":                         {"--witness"},
		"events verify --log x --witness 1:2":                    {"--log"},
		"events verify --log fleet --witness reports:0:" + zeros: {"--witness", "fleet"},
		"events verify --witness 1,204:" + zeros:                 {"--witness", "1,204"},
		"events witness --log x":                                 {"--log"},
		"events head --check x --key y":                          {"--check"},
		"events export --log x":                                  {`"x"`},
		"reports":                                                {"needs a subcommand"},
		"reports rebuild":                                        {"arg"},
		"reports rebuild x":                                      {"id"},
		"reports rebuild " + id + " --verify --against x":        {"--against", "--inputs"},
		"reports rebuild " + id + " --verify --offline":          {"--offline", "--inputs"},
		"reports rebuild --inputs x --verify":                    {"--verify", "--against"},
		"reports rebuild --inputs= --file x --against=":          {"--inputs", "--against"},
		"verify":   {"arg"},
		"evidence": {"--check", "--from", "--to"},
		"evidence --check PG-X1 --from noon --to x --instance y --csv --pdf":            {"PG-X1", "--from", "--to", "--instance", "--csv"},
		"evidence --check PG-S17 --from 2026-01-02T00:00:00Z --to 2026-01-01T00:00:00Z": {"before --to"},
		"evidence --check PG-S17 --from 2024-01-02T00:00:00Z --to 2026-01-01T00:00:00Z": {"400 days"},
		"verify --page report.pdf":               {`"report.pdf"`},
		"evidence --verify x":                    {"--keys"},
		"evidence --verify x --keys y --check z": {"nothing else"},
		"fleet":                                  {"needs a subcommand"},
		"fleet apply":                            {"arg"},
		"fleet apply a b":                        {"arg"},
		"fleet apply a --force":                  {"--force"},
		"dead":                                   {"needs a subcommand"},
		"dead show":                              {"arg"},
		"dead show x":                            {"id", "dead list"},
		"dead retry x":                           {"id"},
		"dead drop " + id + " " + id:             {"arg"},
		"keys":                                   {"needs a subcommand"},
		"keys rotate now":                        {`"now"`},
		"keys retire all":                        {`"all"`},
		"keys list x":                            {`"x"`},
		"backup":                                 {"arg"},
		"backup a b":                             {"arg"},
		"restore":                                {"arg"},
		"restore a b":                            {"arg"},
		"migrate status --listen nowhere --log-level loud --job-lease soon": {"--listen", "--log-level", "--job-lease"},
		"serve --listen nowhere --admin-email a@b.example":                  {"--listen", "needs --admin-password-file"},
		"dead list --database-url mysql://h/d":                              {"--database-url"},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "untouched")
			got := muster(t, append(strings.Fields(line), "--data-dir", dir)...)
			if got.status != command.ExitUsage {
				t.Errorf("exit status %d, want %d", got.status, command.ExitUsage)
			}
			if got.out != "" {
				t.Errorf("standard output says %q", got.out)
			}
			got.says(t, want...)
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the data directory was made: %v", err)
			}
		})
	}
}

// TestWrongEnvironment: a variable is as good as a flag, also to be wrong.
func TestWrongEnvironment(t *testing.T) {
	t.Parallel()
	env := []string{"MUSTER_LISTEN=nowhere", "MUSTER_LOG_LEVEL=loud", "MUSTER_DATA_DIR=" + filepath.Join(t.TempDir(), "untouched")}
	got := launch(t, env, "serve").outcome(t)
	if got.status != command.ExitUsage || got.out != "" {
		t.Errorf("ended with %d and printed %q", got.status, got.out)
	}
	got.says(t, "MUSTER_LISTEN", "MUSTER_LOG_LEVEL")
}

// TestHelp holds the help of every command to what it needs and offers.
func TestHelp(t *testing.T) {
	t.Parallel()
	for i, cmd := range everyCommand(cli.Root(new(bool))) {
		path := strings.Fields(cmd.CommandPath())[1:]
		t.Run(strings.Join(path, " "), func(t *testing.T) {
			t.Parallel()
			cmd := everyCommand(cli.Root(new(bool)))[i] // to ask for its flags writes to its parents'
			got := muster(t, append(path, "--help")...)
			if got.status != 0 || got.errors != "" {
				t.Fatalf("--help ends with %d: %s", got.status, got.errors)
			}
			if cmd.Short == "" || !strings.Contains(got.out, cmd.UseLine()) {
				t.Errorf("the help does not say what %q is or how it is called:\n%s", cmd.CommandPath(), got.out)
			}
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if f.Usage == "" || !strings.Contains(got.out, "--"+f.Name) {
					t.Errorf("nothing says what --%s is for", f.Name)
				}
				if len(f.Annotations[cobra.BashCompOneRequiredFlag]) > 0 && !strings.Contains(cmd.Use, "--"+f.Name) {
					t.Errorf("--%s is needed, and %q does not show it", f.Name, cmd.Use)
				}
			})
			// The settings, two dozen of them, are told once.
			if listed := strings.Contains(got.out, "MUSTER_LISTEN"); listed != (cmd.Name() == "serve" || !cmd.HasParent()) {
				t.Errorf("the help lists the settings: %v", listed)
			}
			for _, child := range cmd.Commands() {
				if child.IsAvailableCommand() && !strings.Contains(got.out, child.Name()) {
					t.Errorf("the help does not list %s", child.Name())
				}
			}
		})
	}
}

// TestEveryCommandOfTheContract fails where a command is missing or was renamed.
func TestEveryCommandOfTheContract(t *testing.T) {
	t.Parallel()
	var paths []string
	for _, cmd := range everyCommand(cli.Root(new(bool))) {
		paths = append(paths, strings.TrimPrefix(cmd.CommandPath(), "muster "))
	}
	for _, wanted := range []string{
		"serve", "migrate up", "migrate finish", "migrate status", "organization create", "organization delete", "admin create", "admin reset-password",
		"setup-link", "token create", "projections list", "projections rebuild", "projections diff",
		"events list", "events replay", "events verify", "events head", "events witness", "events checkpoint", "events export",
		"reports rebuild", "verify", "evidence", "dead list", "dead show", "dead retry", "dead drop",
		"keys list", "keys rotate", "keys retire", "keys export", "backup", "restore", "feed show", "fleet apply",
	} {
		if !slices.Contains(paths, wanted) {
			t.Errorf("there is no command %q", wanted)
		}
	}
}

// TestCommandsNamedInDocumentsExist: help, pages for people and runbooks name no unknown command.
func TestCommandsNamedInDocumentsExist(t *testing.T) {
	t.Parallel()
	top := cli.Root(new(bool))
	children := map[string]map[string]bool{}
	texts := map[string]string{}
	for _, cmd := range everyCommand(top) {
		path := strings.TrimPrefix(cmd.CommandPath(), "muster ")
		texts[path] = cmd.Short + "\n" + cmd.Long + "\n" + cmd.Example
		if cmd == top || !cmd.HasAvailableSubCommands() {
			continue
		}
		children[path] = map[string]bool{}
		for _, child := range cmd.Commands() {
			children[path][child.Name()] = true
		}
		if _, list, ok := strings.Cut(cmd.Short, ": "); ok {
			for _, name := range strings.Split(list, ", ") {
				if !children[path][name] {
					t.Errorf("the help announces %s %s, which is not there", path, name)
				}
			}
		}
	}
	err := filepath.WalkDir(root+"/docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			texts[path] = readText(t, strings.TrimPrefix(path, root+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"README.md", "ARCHITECTURE.md", "internal/httpapi/openapi.yaml"} {
		texts[path] = readText(t, path)
	}
	named := 0
	for where, text := range texts {
		for _, call := range regexp.MustCompile("muster ([a-z-]+) ([a-z-]+)").FindAllStringSubmatch(text, -1) {
			if known, ok := children[call[1]]; ok {
				named++
				if !known[call[2]] {
					t.Errorf("%s names %q, which is not there", where, call[0])
				}
			}
		}
	}
	if named < 40 {
		t.Errorf("only %d commands are named", named)
	}
}

func everyCommand(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, child := range root.Commands() {
		all = append(all, everyCommand(child)...)
	}
	return all
}

// TestABareCallPrintsHelp: a user who types only the name is not wrong.
func TestABareCallPrintsHelp(t *testing.T) {
	t.Parallel()
	got := muster(t)
	if got.status != 0 || !strings.Contains(got.out, "muster serve --demo") {
		t.Errorf("ended with %d:\n%s%s", got.status, got.out, got.errors)
	}
	if got := muster(t, "--version"); got.status != 0 || strings.TrimSpace(got.out) == "" {
		t.Errorf("--version ends with %d and says %q", got.status, got.out)
	}
}

// TestBrokenPipe: a pager that was left early is no reason to go on.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	read, write := io.Pipe()
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if status := cli.Run(t.Context(), append(i.flags(), "events", "list"), write, &said); status != command.ExitFailed {
		t.Errorf("ended with %d: %s", status, said.String())
	}
}
