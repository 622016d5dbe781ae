package cluster_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"muster/internal/postgres/cluster"
)

// pretend puts programs that say they are of a major version into dir.
func pretend(t *testing.T, dir string, major int) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"initdb", "postgres"} {
		script := fmt.Sprintf("#!/bin/sh\necho '%s (PostgreSQL) %d.1'\n", program, major)
		if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o755); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
	}
}

// TestAnOldInstallationIsNotUsed: only a server of that major version is started with it.
func TestAnOldInstallationIsNotUsed(t *testing.T) {
	t.Parallel()
	old := cluster.Installation{Major: cluster.OldestMajor - 1, Dir: "old"}
	oldest := cluster.Installation{Major: cluster.OldestMajor, Dir: "oldest"}
	var missing *cluster.NotInstalledError
	if found, err := cluster.FindAmong([]cluster.Installation{old}, 0); !errors.As(err, &missing) {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := cluster.FindAmong([]cluster.Installation{old, oldest}, 0); err != nil || found != oldest {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := cluster.FindAmong([]cluster.Installation{old, oldest}, old.Major); err != nil || found != old {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestInstalledProgramsComeBeforeFetchedOnes: with an installed PostgreSQL a demo's change nothing, however new
// they are.
func TestInstalledProgramsComeBeforeFetchedOnes(t *testing.T) {
	home := t.TempDir() // the environment is the process's: this test runs alone
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	fetched := filepath.Join(cache, "muster", "postgresql", "998", "bin")
	pretend(t, fetched, 998)
	installed := filepath.Join(t.TempDir(), "bin")
	pretend(t, installed, 997)

	t.Setenv("PATH", installed+string(os.PathListSeparator)+os.Getenv("PATH"))
	for major, want := range map[int]string{0: installed, 997: installed, 998: fetched} {
		found, err := cluster.Find(t.Context(), major)
		if err != nil || found.Dir != want {
			t.Errorf("major %d: %+v %v, want those in %s", major, found, err, want)
		}
	}
	var missing *cluster.NotInstalledError
	if _, err := cluster.Find(t.Context(), 999); !errors.As(err, &missing) {
		t.Errorf("major 999: %v", err)
	}
}
