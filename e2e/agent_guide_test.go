package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/internal/agent"
	"muster/internal/cli"
	"muster/internal/testing/pgtest"
)

// TestTheConfigurationOfTheAgentsGuide is one that the agent reads, and has the defaults
// that the page tells.
func TestTheConfigurationOfTheAgentsGuide(t *testing.T) {
	t.Parallel()
	guide := readText(t, "docs/agent.md")
	text := regexp.MustCompile("(?s)```yaml\n(# agent.yaml\n.*?)```").FindStringSubmatch(guide)
	if text == nil {
		t.Fatal("the guide has no configuration")
	}
	path := fileWith(t, "agent.yaml", text[1])
	if err := os.Mkdir(filepath.Join(filepath.Dir(path), "secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(filepath.Dir(path), "secrets", "ms-shop"), []byte("heron\n"))
	heron := func(string) (string, bool) { return "heron", true }
	c, err := agent.ReadConfig(path, heron)
	if err != nil {
		t.Fatal(err)
	}
	if c.Directory != "/var/lib/muster-agent" || c.Buffer != 512<<20 || !c.Host || c.Texts || len(c.Servers) != 2 {
		t.Errorf("%+v", c)
	}
	orders, shop := c.Servers[0], c.Servers[1]
	if orders.ExternalID != "pg-orders-01" || orders.Classify != "names" || orders.AssessEvery.String() != "6h0m0s" ||
		shop.ExternalID != "ms-shop-01" || shop.HostName != "ms01.example.org" || shop.AssessEvery.String() != "12h0m0s" {
		t.Errorf("%+v", c.Servers)
	}
	c, err = agent.ReadConfig(fileWith(t, "agent.yaml", "directory: x"), heron)
	if err != nil || c.Buffer != 1<<30 {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = agent.ReadConfig(fileWith(t, "agent.yaml", `directory: C:\ProgramData\Muster\agent`), heron)
	if err != nil || c.Directory != `C:\ProgramData\Muster\agent` {
		t.Errorf("%+v, %v", c, err)
	}
	for name, text := range map[string]string{
		"in the clear":     "{name: a, engine: postgresql, dsn: 'postgres://u:heron@db01/d'}",
		"a ? in it":        "{name: a, engine: postgresql, dsn: 'postgres://u:12?heron@db01/d'}",
		"an alias":         "{name: a, engine: postgresql, dsn: *heron}",
		"a key":            "{postgres://u:heron@db01/d}",
		"a list":           "{name: a, engine: postgresql, dsn: [heron]}",
		"of another type":  "{}\nhost: heron",
		"without quotes":   "{name: a, engine: postgresql, dsn: @heron}",
		"with a backslash": `{name: a, engine: postgresql, dsn: "\heron"}`,
	} {
		_, err = agent.ReadConfig(fileWith(t, "agent.yaml", "directory: x\nservers:\n  - "+text), os.LookupEnv)
		if err == nil || strings.Contains(err.Error(), "heron") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheUnits call the program as it is called, say nothing that systemd does not know,
// and take away from it what the pages say.
func TestTheUnits(t *testing.T) {
	t.Parallel()
	for _, u := range []struct{ name, command, page string }{
		{"muster", "muster serve", "docs/operators.md"},
		{"muster-agent", "muster agent run", "docs/agent.md"},
	} {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			unit := readText(t, "kit/systemd/"+u.name+".service")
			start := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/muster (.*)$`).FindStringSubmatch(unit)
			if start == nil {
				t.Fatal("the unit starts something else")
			}
			cmd, rest, err := cli.Root(new(bool)).Find(strings.Fields(start[1]))
			if err != nil || cmd.CommandPath() != u.command || cmd.ParseFlags(rest) != nil || cmd.ValidateRequiredFlags() != nil {
				t.Errorf("%s is called with %s: %v", cmd.CommandPath(), start[1], err)
			}
			analyze, err := exec.LookPath("systemd-analyze")
			if err != nil {
				t.Skip("systemd-analyze is not installed (Debian: apt-get install --no-install-recommends systemd)")
			}
			program, err := os.Executable() // verify wants one that is there
			if err != nil {
				t.Fatal(err)
			}
			path := fileWith(t, u.name+".service", strings.ReplaceAll(unit, "/usr/bin/muster", program))
			verified := func() {
				if said, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", path).CombinedOutput(); err != nil || len(said) > 0 {
					t.Errorf("verify: %v\n%s", err, said)
				}
			}
			verified()
			said, err := exec.CommandContext(t.Context(), analyze, "security", "--no-pager", "--offline=yes", path).CombinedOutput()
			if err != nil {
				t.Skipf("systemd-analyze judges no files (252 and newer do): %s", said)
			}
			exposure := regexp.MustCompile(`Overall exposure level for ` + u.name + `.service: ([\d.]+)`).FindSubmatch(said)
			if exposure == nil || !strings.Contains(readText(t, u.page), "exposure "+string(exposure[1])+" of 10") {
				t.Errorf("the page tells another exposure:\n%s", said)
			}
			if u.name == "muster" { // again, with the key handed in
				if err := os.Mkdir(path+".d", 0o700); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(path+".d", "secret-key.conf"), []byte(readText(t, "kit/systemd/muster-secret-key.conf")))
				verified()
			}
		})
	}
}

// TestTheCheckOfTheAgentsGuide tells of the parts that the guide shows.
func TestTheCheckOfTheAgentsGuide(t *testing.T) {
	t.Parallel()
	config := fileWith(t, "agent.yaml", "directory: /nowhere\nservers:\n  - {name: pg-orders-01, engine: postgresql, dsn: '"+watchedAt(t)+"'}\n")
	got := muster(t, "agent", "check", "--config", config)
	shown := regexp.MustCompile("(?s)```\n(pg-orders-01  postgresql.*?)```").FindStringSubmatch(readText(t, "docs/agent.md"))
	if shown == nil {
		t.Fatal("the guide shows no check")
	}
	part := regexp.MustCompile(`(?m)^  (?:ok|FAILS) +(\w+)`)
	var want, said []string
	for _, p := range part.FindAllStringSubmatch(shown[1], -1) {
		want = append(want, p[1])
	}
	for _, p := range part.FindAllStringSubmatch(got.out, -1) {
		said = append(said, p[1])
	}
	if len(want) < 5 || strings.Join(want, " ") != strings.Join(said, " ") || !strings.HasPrefix(got.out, "pg-orders-01  postgresql  "+pgtest.Watched(t).Addr()+"\n") {
		t.Errorf("it says\n%s%s\nthe guide has\n%s", got.out, got.errors, shown[1])
	}
}
