package agent

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// read reads a configuration whose environment has PASSWORD, and beside which "secret" lies.
func read(t *testing.T, text string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("planted-file\n"), 0o600))
	path := filepath.Join(dir, "agent.yaml")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return ReadConfig(path, func(name string) (string, bool) { return "planted-word", name == "PASSWORD" })
}

func TestAConfigurationIsReadWithItsDefaults(t *testing.T) {
	t.Parallel()
	c, err := read(t, `directory: /var/lib/muster-agent
servers:
  - name: orders
    engine: postgresql
    dsn: postgres://muster:${PASSWORD}@127.0.0.1:5433/postgres
  - name: erp
    externalId: ora-erp
    engine: oracle
    dsn: oracle://muster@db02.example.org:1521/ERP
    passwordFile: secret
    host: db02
    classify: "off"
    assessEvery: never
`)
	must(t, err)
	host, err := os.Hostname()
	must(t, err)
	if c.Name != host || c.Buffer != 1<<30 || !c.Host || c.Texts || len(c.Servers) != 2 {
		t.Errorf("it is %+v", c)
	}
	first, second := c.Servers[0], c.Servers[1]
	if first.ExternalID != "orders" || first.Classify != "names" || first.AssessEvery != 6*time.Hour || second.ExternalID != "ora-erp" || second.AssessEvery != 0 || second.Classify != "off" {
		t.Errorf("they are %+v", c.Servers)
	}
	target, err := c.target(first)
	must(t, err)
	if !strings.Contains(target.Address(), "127.0.0.1:5433") {
		t.Errorf("it leads to %s", target.Address())
	}
	c, err = read(t, "name: beside\ndirectory: d\nbuffer: 64MiB\nhost: true\nstatementTexts: normalized\n")
	must(t, err)
	if c.Name != "beside" || c.Buffer != 64<<20 || !c.Texts || len(c.Servers) != 0 {
		t.Errorf("it is %+v", c)
	}
}

// TestAllFaultsOfAConfigurationAreReportedAtOnce, each with its line, and no fault repeats a secret.
func TestAllFaultsOfAConfigurationAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	server := "servers:\n  - {name: a, engine: postgresql, dsn: \"postgres://u@h/d\"%}\n"
	with := func(more string) string { return "directory: d\n" + strings.Replace(server, "%", more, 1) }
	for name, c := range map[string]struct {
		text string
		want []string // what each line begins with, or has
	}{
		"nothing":   {"", []string{"line 1: the file is empty"}},
		"no server": {"directory: d\nhost: false\n", []string{"servers are none, and host is false"}},
		"everything": {`label: x
buffer: 1KiB
statementTexts: all
servers:
  - engine: db2
    classify: all
    assessEvery: 1m
    dsn: x
  - name: "a\u202eb"
    engine: postgresql
    dsn: postgres://u:planted-clear@h/d
    pasword: planted-key
  - {name: c, externalId: "a\nb", engine: oracle, dsn: "oracle://u:${MISSING}@h/d"}
  - {name: c, engine: sqlserver, dsn: "sqlserver://u@h", passwordFile: missing}
  - {name: c, engine: postgresql, dsnFile: secret}
`, []string{
			"line 1: label is not known here; there are buffer, directory, host, name, servers, statementTexts", "line 12: servers[1].pasword is not known here", "directory is missing", `buffer is "1KiB", and less than 1MiB`,
			`statementTexts is "all"`, "line 5: name is missing", `line 5: classify is "all"`, `line 5: assessEvery is "1m"`, `line 5: engine is "db2"`,
			"line 9: name must not contain line breaks", "line 9: externalId is", "line 9: dsn holds a password in the clear", "line 13: externalId is", "line 13: dsn names the variable MISSING",
			"line 14: passwordFile names the file missing", `line 15: externalId "c" is that of line 14, too`, "line 15: dsnFile ",
		}},
		"no YAML":             {"servers: [", []string{"line 1: is not YAML: did not find"}},
		"another type":        {"directory: d\nhost: maybe\nservers:\n  - name: [x]\n", []string{"line 2: host must be true or false", "line 4: servers[0].name must be a text"}},
		"a list":              {"- a\n", []string{"line 1: must be a mapping"}},
		"a number for a name": {with("") + "name: 0123\n", []string{"line 4: name must be a text; put it into quotation marks"}},
		"an anchor":           {with("") + "name: &n a\n", []string{"line 4: anchors and aliases are not read"}},
		"a key twice":         {with("") + "directory: e\n", []string{"directory is given twice"}},
		"a buffer":            {with("") + "buffer: lots\n", []string{`buffer is "lots"`}},
		"a long name":         {with("") + "name: " + strings.Repeat("日", 201) + "\n", []string{"name has more than 200 characters"}},
		"too many":            {"directory: d\nservers:\n" + strings.Repeat("  - {name: a, engine: postgresql, dsn: \"postgres://u@h/d\"}\n", 1001), nil},
		"no connection":       {"directory: d\nservers:\n  - {name: a, engine: postgresql}\n", []string{"line 3: dsn is missing; give one, or a dsnFile that holds one"}},
		"a password file":     {"directory: d\nservers:\n  - {name: a, engine: postgresql, passwordFile: f}\n", []string{"line 3: passwordFile is given without a dsn"}},
		"two connections":     {with(", dsnFile: secret"), []string{"line 3: dsn is given beside a dsnFile"}},
	} {
		_, err := read(t, c.text)
		var faulty *ConfigError
		if !errors.As(err, &faulty) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Contains(err.Error(), "planted") {
			t.Errorf("%s repeats a secret: %v", name, err)
		}
		if name == "too many" {
			if !slices.ContainsFunc(faulty.Faults, func(f string) bool { return strings.HasPrefix(f, "servers are 1001") }) {
				t.Errorf("%s: %.200s", name, err)
			}
			continue
		}
		if len(faulty.Faults) != len(c.want) {
			t.Errorf("%s: %d faults, want %d:\n%v", name, len(faulty.Faults), len(c.want), err)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(faulty.Faults[i], want) {
				t.Errorf("%s: fault %d is %q, want %q", name, i, faulty.Faults[i], want)
			}
		}
	}
	if _, err := ReadConfig(filepath.Join(t.TempDir(), "none.yaml"), os.LookupEnv); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}
