package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Program is one of PostgreSQL's client programs on this machine.
type Program struct {
	Path  string
	Major int
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

// FindClient returns a client program of the major version wanted, or else the
// oldest newer one, which can talk to that server too: an older one cannot. It
// returns *NoClientError.
func FindClient(ctx context.Context, program string, major int) (Program, error) {
	missing := &NoClientError{Program: program, Oldest: major}
	best := Program{}
	for _, path := range clientPaths(program) {
		found, err := majorOf(ctx, path)
		if err != nil {
			continue // not PostgreSQL's
		}
		if found < major {
			missing.Found = append(missing.Found, found)
		} else if best.Path == "" || found < best.Major {
			best = Program{Path: path, Major: found}
		}
	}
	if best.Path == "" {
		slices.Sort(missing.Found)
		missing.Found = slices.Compact(missing.Found)
		return Program{}, missing
	}
	return best, nil
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
