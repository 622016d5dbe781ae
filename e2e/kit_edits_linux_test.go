package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"muster/internal/cli/command"
)

// TestAKitFileEditedWrongly: whoever edits a file of the kit has the tool that reads it
// look first, and each of them names the file and the line of one wrong word. What helm
// says of wrong values is in scripts/test_chart.sh; nothing here reads a compose file but
// our own tests.
func TestAKitFileEditedWrongly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, right, wrong string
		judge              func(t *testing.T, edited string) *exec.Cmd
	}{
		{"kit/proxy/nginx.conf", "proxy_read_timeout 300s;", "proxy_read_timeuot 300s;", nginxJudges},
		{"kit/proxy/nginx.conf", "keepalive 32;", "keepalive 32", nginxJudges},
		{"kit/proxy/nginx.conf", "server 127.0.0.1:8080 max_fails=10", "server 127.0.0.1:8080 max_fail=10", nginxJudges},
		{"kit/proxy/Caddyfile", "health_interval 2s", "health_intervall 2s", caddyJudges},
		{"kit/proxy/Caddyfile", "max_size 65MiB", "max_size 65 parsecs", caddyJudges},
		{"kit/prometheus/muster.rules.yaml", `absent(up{job="muster"} == 1)`, `absent(up{job="muster"} = 1)`, promtoolJudges},
		{"kit/prometheus/muster.rules.yaml", "        annotations:", "        anotations:", promtoolJudges},
		{"kit/systemd/muster.service", "KillMode=mixed", "KilMode=mixed", systemdJudges},
		{"kit/systemd/muster.service", "TimeoutStopSec=60", "TimeoutStopSec=sixty", systemdJudges},
		{"kit/systemd/muster-agent.service", "Restart=always", "Restart=allways", systemdJudges},
	} {
		t.Run(c.wrong, func(t *testing.T) {
			t.Parallel()
			name := c.file[strings.LastIndexByte(c.file, '/')+1:]
			text := readText(t, c.file)
			before, _, there := strings.Cut(text, c.right)
			if !there {
				t.Fatalf("%s does not have %q", c.file, c.right)
			}
			edited := fileWith(t, name, strings.Replace(text, c.right, c.wrong, 1))
			cmd := c.judge(t, edited)
			if _, err := exec.LookPath(cmd.Path); err != nil {
				t.Skipf("%s is not installed", cmd.Path)
			}
			said, err := cmd.CombinedOutput()
			line := strings.Count(before, "\n") + 1
			if !names(string(said), edited, line) {
				t.Errorf("%v does not name %s, line %d: %v\n%s", cmd.Args, edited, line, err, said)
			}
			if err == nil && !strings.HasSuffix(name, ".service") { // systemd passes over what it does not know, and says so
				t.Errorf("%v takes it:\n%s", cmd.Args, said)
			}
		})
	}
}

// names says whether a tool names a line of a file, in one of the ways that they have. A
// word that ends nothing is found at the next.
func names(said, file string, line int) bool {
	for _, l := range []int{line, line + 1} {
		for _, form := range []string{"%s:%s", "%s: %s:", "%s: yaml: line %s:", "%s: yaml: unmarshal errors:\n  line %s:"} {
			if strings.Contains(said, fmt.Sprintf(form, file, strconv.Itoa(l))) {
				return true
			}
		}
	}
	return false
}

func nginxJudges(t *testing.T, edited string) *exec.Cmd {
	t.Helper()
	_, certificate, key := behindTLS(t)
	text := strings.NewReplacer("/etc/ssl/muster/fullchain.pem", certificate, "/etc/ssl/muster/privkey.pem", key).Replace(string(read(t, edited)))
	write(t, edited, []byte(text))
	dir, main := nginxAround(t, edited)
	return exec.CommandContext(t.Context(), "nginx", "-p", dir, "-e", "stderr", "-t", "-c", main)
}

func caddyJudges(t *testing.T, edited string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "caddy", "validate", "--adapter", "caddyfile", "--config", edited)
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	return cmd
}

func promtoolJudges(t *testing.T, edited string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), "promtool", "check", "rules", edited)
}

func systemdJudges(t *testing.T, edited string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable() // verify wants one that is there
	if err != nil {
		t.Fatal(err)
	}
	write(t, edited, []byte(strings.ReplaceAll(string(read(t, edited)), "/usr/bin/muster", program)))
	return exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", edited)
}

// TestTheEnvironmentFileEditedWrongly: what is wrong in the file of a unit's settings is
// said by the variable's name, all of it at once, before anything is started.
func TestTheEnvironmentFileEditedWrongly(t *testing.T) {
	t.Parallel()
	file := replaced(t, "kit/packages/environment",
		"#MUSTER_PUBLIC_URL=https://muster.example.org", "MUSTER_PUBLIC_URL=muster.example.org",
		"#MUSTER_TRUSTED_PROXIES=127.0.0.1", "MUSTER_TRUSTED_PROXIES=127.0.0",
		"#MUSTER_SMTP_URL=smtp://muster:secret@mail.example.org:587", "MUSTER_SMTP_URL=mail.example.org:secret")
	dir := t.TempDir()
	got := launch(t, settingsOf(file), "serve", "--data-dir", dir, "--listen", "127.0.0.1:0").outcome(t)
	if got.status != command.ExitUsage || got.out != "" || strings.Contains(got.errors, "secret") {
		t.Errorf("it ended with %d and printed %q", got.status, got.out)
	}
	got.says(t, "(MUSTER_PUBLIC_URL) is", "(MUSTER_TRUSTED_PROXIES)", "(MUSTER_SMTP_URL)")
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("it made %v, %v", made, err)
	}
}

// settingsOf are the lines of an environment file that systemd takes.
func settingsOf(file string) (settings []string) {
	for line := range strings.Lines(file) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			settings = append(settings, line)
		}
	}
	return settings
}
