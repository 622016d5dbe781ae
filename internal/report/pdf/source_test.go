package pdf

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"muster/internal/assessment/quote"
	"muster/internal/engine"
	"muster/internal/measurements/forecast"
	"muster/internal/report/snapshot"
)

// A renderer with a changed text is another one, even with the same version and commit: an
// earlier report may legitimately differ.
func TestTheIdentityCoversTheProgramText(t *testing.T) {
	t.Parallel()
	r, err := New(Build{Version: "1.0.0", Commit: "0123abcd"})
	if err != nil {
		t.Fatal(err)
	}
	want := r.Identity().Assets
	for _, path := range []string{"renderer.go", "blocks/cover.go", "inventory/register.go", "scorecard/scorecard.go", "sections/versions.go", "typeset/table.go"} {
		changed := copyOf(t, path, source)
		if got, err := digest(r.fonts.Digest(), changed, snapshot.Source, engine.Source, quote.Source, forecast.Source); err != nil || got == want {
			t.Errorf("%s changed, and the identity is the same (%v)", path, err)
		}
	}
	for _, path := range []string{"codec.go", "analysis/score.go", "analysis/window/hints.go"} {
		changed := copyOf(t, path, snapshot.Source)
		if got, err := digest(r.fonts.Digest(), source, changed, engine.Source, quote.Source, forecast.Source); err != nil || got == want {
			t.Errorf("%s changed, and the identity is the same (%v)", path, err)
		}
	}
	if got, err := digest(r.fonts.Digest(), source, snapshot.Source, engine.Source, copyOf(t, "quote.go", quote.Source), forecast.Source); err != nil || got == want {
		t.Errorf("quote.go changed, and the identity is the same (%v)", err)
	}
	if got, err := digest(r.fonts.Digest(), source, snapshot.Source, engine.Source, quote.Source, copyOf(t, "forecast.go", forecast.Source)); err != nil || got == want {
		t.Errorf("forecast.go changed, and the identity is the same (%v)", err)
	}
	if got, err := digest("other fonts", source, snapshot.Source, engine.Source, quote.Source, forecast.Source); err != nil || got == want {
		t.Errorf("other fonts, and the identity is the same (%v)", err)
	}
	if got, err := digest(r.fonts.Digest(), source, snapshot.Source, engine.Source, copyOf(t, "quote_test.go", quote.Source), forecast.Source); err != nil || got != want {
		t.Errorf("a test changed, and the identity with it (%v)", err)
	}
}

// TestEveryRoomOfReportsIsInTheIdentity: a file or folder that is new below the packages whose text
// the identity covers is covered, too.
func TestEveryRoomOfReportsIsInTheIdentity(t *testing.T) {
	t.Parallel()
	for root, covered := range map[string]fs.FS{".": source, "../snapshot": snapshot.Source, "../../engine": engine.Source} {
		err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || strings.HasSuffix(entry.Name(), "test")):
				return fs.SkipDir
			case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			if _, err := fs.Stat(covered, path); err != nil {
				t.Errorf("%s/%s decides what a report says, and no pattern of go:embed names it: %v", root, path, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// copyOf is a file system with one file changed.
func copyOf(t *testing.T, changed string, from fs.FS) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	err := fs.WalkDir(from, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, path)
		if path == changed {
			content = append(content, '\n')
		}
		out[path] = &fstest.MapFile{Data: content}
		return err
	})
	if err != nil || out[changed] == nil {
		t.Fatalf("no file %s: %v", changed, err)
	}
	return out
}
