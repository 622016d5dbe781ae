package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// walked is a part of a page: what is run there, and the lines that the page says it prints.
type walked struct {
	title             string
	commands, printed []string
}

// fenced is a block of a page: commands where it begins with sh, else what they print.
var fenced = regexp.MustCompile("(?s)```(sh)?\n(.*?)```")

// partsOf reads the parts of a page that have commands.
func partsOf(page string) (parts []walked) {
	for _, text := range strings.Split(page, "\n## ")[1:] {
		var part walked
		part.title, _, _ = strings.Cut(text, "\n")
		for _, block := range fenced.FindAllStringSubmatch(text, -1) {
			lines := strings.Split(strings.TrimSpace(block[2]), "\n")
			if block[1] == "sh" {
				part.commands = append(part.commands, lines...)
			} else {
				part.printed = append(part.printed, lines...)
			}
		}
		if len(part.commands) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// holds holds what was printed to what the page says, in its order; … stands for anything
// within a line.
func (p walked) holds(t *testing.T, out string) {
	t.Helper()
	rest := strings.Split(out, "\n")
	for _, want := range p.printed {
		line := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*") + "$")
		at := slices.IndexFunc(rest, line.MatchString)
		if at < 0 {
			t.Fatalf("%s: the page says %q, and the commands print\n%s", p.title, want, out)
		}
		rest = rest[at+1:]
	}
}

// TestAnAuditorWalksThrough follows docs/auditors-walk-through.md word for word, with the
// commands of the operator where they are, and holds what is printed to what the page says.
func TestAnAuditorWalksThrough(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"curl", "python3", "openssl", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing: install it", tool)
		}
	}
	h := newReported(t)
	h.serves(t)
	page := readText(t, "docs/auditors-walk-through.md")
	for place, ours := range map[string]string{"https://muster.example": h.server.base, "YOUR-TOKEN": h.ana.token, "ID-OF-A-REPORT": h.security.String()} {
		if !strings.Contains(page, place) {
			t.Errorf("the page does not name %s", place)
		}
		page = strings.ReplaceAll(page, place, ours)
	}
	desk, bin := t.TempDir(), t.TempDir()
	for link, to := range map[string]string{filepath.Join(bin, "muster"): os.Args[0], filepath.Join(desk, "scripts"): "../scripts"} {
		to, err := filepath.Abs(to)
		if err == nil {
			err = os.Symlink(to, link)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	runParts(t, partsOf(page), desk, "PATH="+bin+":"+os.Getenv("PATH"), "MUSTER_DATABASE_URL="+h.url, "MUSTER_DATA_DIR="+h.dir)
}

// runParts runs the commands of parts in a folder, one part after the other, and holds what is printed to what the
// page says. What a part exports is there in the later ones.
func runParts(t *testing.T, parts []walked, in string, environment ...string) {
	t.Helper()
	var exported []string // one shell for all parts would not tell which of them failed
	for _, part := range parts {
		run := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", strings.Join(append(exported, part.commands...), "\n"))
		run.Dir, run.Env = in, programEnvironment(environment...)
		if _, err := run.StdinPipe(); err != nil { // the program runs as long as somebody holds it (beMuster)
			t.Fatal(err)
		}
		out, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", part.title, err, out)
		}
		part.holds(t, string(out))
		for _, line := range part.commands {
			if strings.HasPrefix(line, "export ") {
				exported = append(exported, line)
			}
		}
	}
}
