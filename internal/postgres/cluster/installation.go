package cluster

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// OldestMajor is the oldest PostgreSQL that Muster runs on.
const OldestMajor = 15

// Installation is one PostgreSQL server's programs on this machine.
type Installation struct {
	Major int    // 15, 16, …
	Dir   string // holds initdb, postgres
}

// Program is the path of one of the installation's programs.
func (i Installation) Program(name string) string { return filepath.Join(i.Dir, name) }

// HasLibrary says whether the server's libraries hold one. The server, too, looks for
// them from where its program lies; modules beyond its own are a package of their own
// here and there.
func (i Installation) HasLibrary(name string) bool {
	program, err := filepath.EvalSymlinks(i.Program("postgres"))
	if err != nil {
		return false
	}
	for _, dir := range []string{"lib", "lib/postgresql", "lib/pgsql", "lib64/pgsql"} {
		for _, suffix := range []string{".so", ".dylib"} {
			if info, err := os.Stat(filepath.Join(filepath.Dir(program), "..", dir, name+suffix)); err == nil && info.Mode().IsRegular() {
				return true
			}
		}
	}
	return false
}

// NotInstalledError says that no usable server programs were found.
type NotInstalledError struct {
	Major int   // the major version needed; 0: any from OldestMajor on
	Found []int // majors that are installed
}

func (e *NotInstalledError) Error() string {
	found := "none is installed"
	if len(e.Found) > 0 {
		found = fmt.Sprintf("installed: %v", e.Found)
	}
	if e.Major == 0 {
		return fmt.Sprintf("no PostgreSQL %d or newer was found (%s): install the Debian package postgresql, "+
			"or give a server with --database-url", OldestMajor, found)
	}
	return fmt.Sprintf("PostgreSQL %d was not found (%s): install the Debian package postgresql-%d", e.Major, found, e.Major)
}

// placesText lists, one a line, where packagers put server programs that are not on
// PATH: Debian and Ubuntu, PGDG on Red Hat, Homebrew on three kinds of machines, and
// Postgres.app. scripts/demo_postgres.sh reads it, too.
//
//go:embed places.txt
var placesText string

// fetchedPlaces is where scripts/demo_postgres.sh puts programs on a machine that has none: as
// root, and as another user.
func fetchedPlaces() []string {
	places := []string{"/var/lib/muster/postgresql/*/bin"}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append(places, filepath.Join(cache, "muster", "postgresql", "*", "bin"))
	}
	return places
}

// matching lists the directories that fit one of the patterns.
func matching(patterns []string) []string {
	var dirs []string
	for _, pattern := range patterns {
		matches, _ := filepath.Glob(pattern) // the only error is a malformed pattern
		dirs = append(dirs, matches...)
	}
	return dirs
}

// Installations lists the servers found on PATH and where packagers put them,
// newest first; of two with the same major the one earlier on PATH comes first.
// Versions older than OldestMajor are listed too, so that an error can name them.
func Installations(ctx context.Context) []Installation {
	return installationsIn(ctx, append(filepath.SplitList(os.Getenv("PATH")), matching(strings.Fields(placesText))...))
}

func installationsIn(ctx context.Context, dirs []string) []Installation {
	var found []Installation
	seen := make(map[string]bool)
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || seen[real] {
			continue
		}
		seen[real] = true
		if installation, ok := InstallationIn(ctx, real); ok {
			found = append(found, installation)
		}
	}
	slices.SortStableFunc(found, func(a, b Installation) int { return cmp.Compare(b.Major, a.Major) })
	return found
}

// InstallationIn is the one whose programs are in dir; ok is false where there are none.
func InstallationIn(ctx context.Context, dir string) (i Installation, ok bool) {
	if !executable(filepath.Join(dir, "initdb")) || !executable(filepath.Join(dir, "postgres")) {
		return Installation{}, false
	}
	major, err := majorOf(ctx, filepath.Join(dir, "postgres"))
	return Installation{Major: major, Dir: dir}, err == nil
}

// Find returns the installation of one major version, or the newest usable one for major 0.
// Programs that were fetched for a demo are used only on a machine without others. It returns
// *NotInstalledError if there is none.
func Find(ctx context.Context, major int) (Installation, error) {
	return find(append(Installations(ctx), installationsIn(ctx, matching(fetchedPlaces()))...), major)
}

func find(all []Installation, major int) (Installation, error) {
	for _, installation := range all {
		if installation.Major == major || (major == 0 && installation.Major >= OldestMajor) {
			return installation, nil
		}
	}
	missing := &NotInstalledError{Major: major}
	for _, installation := range all {
		missing.Found = append(missing.Found, installation.Major)
	}
	return Installation{}, missing
}

var versionNumber = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

func majorOf(ctx context.Context, postgres string) (int, error) {
	out, err := exec.CommandContext(ctx, postgres, "--version").Output()
	if err != nil {
		return 0, fmt.Errorf("ask %s for its version: %w", postgres, err)
	}
	match := versionNumber.FindSubmatch(out)
	if match == nil {
		return 0, fmt.Errorf("%s --version answered %q", postgres, out)
	}
	return strconv.Atoi(string(match[1]))
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// NoClientError says that a client program is not installed, or not in a
// version that is new enough.
type NoClientError struct {
	Program string
	Oldest  int   // the oldest major version that would do
	Found   []int // majors that are installed
}

func (e *NoClientError) Error() string {
	found := "none is installed"
	if len(e.Found) > 0 {
		found = fmt.Sprintf("installed: %v", e.Found)
	}
	return fmt.Sprintf("%s of PostgreSQL %d or newer was not found (%s), and an older one does not do: install the Debian package postgresql-client-%d",
		e.Program, e.Oldest, found, e.Oldest)
}

// FindClient returns where a client program of the major version wanted is, or else the
// oldest newer one, which can talk to that server too: an older one cannot; and its own
// version. It returns *NoClientError.
func FindClient(ctx context.Context, program string, wanted int) (path string, major int, err error) {
	missing := &NoClientError{Program: program, Oldest: wanted}
	for _, candidate := range clientPaths(program) {
		found, err := majorOf(ctx, candidate)
		if err != nil {
			continue // not PostgreSQL's
		}
		if found < wanted {
			missing.Found = append(missing.Found, found)
		} else if path == "" || found < major {
			path, major = candidate, found
		}
	}
	if path == "" {
		slices.Sort(missing.Found)
		missing.Found = slices.Compact(missing.Found)
		return "", 0, missing
	}
	return path, major, nil
}

// clientPaths lists where a program may be. Packagers' directories come before
// PATH, where Debian has a script that chooses among them by its own rules.
func clientPaths(program string) []string {
	var paths []string
	for _, dir := range append(matching(strings.Fields(placesText)), filepath.SplitList(os.Getenv("PATH"))...) {
		if path := filepath.Join(dir, program); executable(path) {
			paths = append(paths, path)
		}
	}
	return paths
}
