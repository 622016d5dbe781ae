package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// shellOf are the blocks of shell of a page, by their headings, each as its lines.
func shellOf(t *testing.T, path string) map[string][][]string {
	t.Helper()
	found := map[string][][]string{}
	heading, inside := "", false
	for line := range strings.Lines(readText(t, path)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case inside && line == "```":
			inside = false
		case inside:
			blocks := found[heading]
			blocks[len(blocks)-1] = append(blocks[len(blocks)-1], line)
		case line == "```sh":
			inside = true
			found[heading] = append(found[heading], nil)
		case strings.HasPrefix(line, "## "):
			heading = strings.TrimPrefix(line, "## ")
		}
	}
	return found
}

// upgradePage is docs/runbooks/upgrade.md, which is followed to the letter: take hands a
// block out, and what was never taken is a line that nobody tried.
type upgradePage struct {
	shell map[string][][]string
	taken map[string]map[int]bool
}

func readUpgradePage(t *testing.T) *upgradePage {
	t.Helper()
	return &upgradePage{shell: shellOf(t, "docs/runbooks/upgrade.md"), taken: map[string]map[int]bool{}}
}

func (p *upgradePage) take(t *testing.T, heading string, block int) []string {
	t.Helper()
	if block >= len(p.shell[heading]) {
		t.Fatalf("the runbook has no %d blocks below %q", block+1, heading)
	}
	if p.taken[heading] == nil {
		p.taken[heading] = map[int]bool{}
	}
	p.taken[heading][block] = true
	return p.shell[heading][block]
}

// followed holds the test to having taken every block.
func (p *upgradePage) followed(t *testing.T) {
	t.Helper()
	for heading, blocks := range p.shell {
		for n := range blocks {
			if !p.taken[heading][n] {
				t.Errorf("nobody followed block %d of %q: %q", n+1, heading, blocks[n])
			}
		}
	}
}

// machine is one on which Muster is installed as the kit does it, below a folder. systemctl
// is the test's own, and does what it would do by kit/systemd/muster.service; all other
// lines are the shell's.
type machine struct {
	root     string // where its /usr/bin and /opt are
	listen   string
	settings []string          // of /etc/muster/environment
	paths    *strings.Replacer // from those of the page to those of the test
	runs     *running          // nil: stopped
	before   func(*running)    // what befalls the next process that is started; nil: nothing
	downAt   time.Time         // when it was told to end; zero: it is not down
	away     []time.Duration   // how long, each time, until it was ready again
}

// install puts a program where a path of the page says.
func (m *machine) install(t *testing.T, program, path string) {
	t.Helper()
	path = filepath.Join(m.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(program, path); err != nil {
		t.Fatal(err)
	}
}

// follow runs lines of the page, one by one, and returns what they print.
func (m *machine) follow(t *testing.T, lines []string) (printed string) {
	t.Helper()
	for _, line := range lines {
		if verb, ok := strings.CutPrefix(line, "systemctl "); ok {
			m.systemctl(t, strings.TrimSuffix(verb, " muster"))
			continue
		}
		got := m.begin(t, line).outcome(t)
		if got.status != 0 {
			t.Fatalf("%s ended with %d: %s%s", line, got.status, got.out, got.errors)
		}
		printed += got.out
		if strings.Contains(line, "/readyz") && !m.downAt.IsZero() {
			m.away = append(m.away, time.Since(m.downAt))
			m.downAt = time.Time{}
		}
	}
	return printed
}

// begin starts a line of shell. Where it is one program the shell gives way to it, so that
// who kills the one kills the other.
func (m *machine) begin(t *testing.T, line string) *running {
	t.Helper()
	line = m.paths.Replace(line)
	if !strings.HasPrefix(line, "until ") {
		line = "exec " + line
	}
	bin := filepath.Join(m.root, "usr/bin")
	return start(t, exec.Command("sh", "-ec", line), append([]string{"PATH=" + bin + ":" + os.Getenv("PATH")}, m.settings...))
}

func (m *machine) systemctl(t *testing.T, verb string) {
	t.Helper()
	if verb == "stop" || verb == "restart" {
		m.downAt = time.Now()
		m.runs.stop(t)
		m.runs = nil
	}
	if verb == "start" || verb == "restart" {
		m.start(t)
	}
}

// start starts the service. A process that is killed is started again (Restart=always).
func (m *machine) start(t *testing.T) {
	t.Helper()
	serve := func() *running {
		r := start(t, exec.Command(filepath.Join(m.root, "usr/bin/muster"), "serve"), m.settings)
		r.base = "http://" + m.listen
		return r
	}
	m.runs = serve()
	if befalls := m.before; befalls != nil {
		m.before = nil
		befalls(m.runs)
		m.runs = serve()
	}
}

// dies is a kill, after which the service is started again.
func (m *machine) dies(t *testing.T) {
	t.Helper()
	m.downAt = time.Now()
	m.runs.kill(t)
	m.start(t)
	m.runs.awaitReady(t)
	m.away = append(m.away, time.Since(m.downAt))
	m.downAt = time.Time{}
}

// awaitReady waits for a process whose address is known.
func (r *running) awaitReady(t *testing.T) {
	t.Helper()
	eventually(t, "the process at "+r.base+" is ready", func() bool {
		if r.over() {
			t.Fatalf("serve ended with %d:\n%s", r.status, r.logged)
		}
		return r.isReady()
	})
}
