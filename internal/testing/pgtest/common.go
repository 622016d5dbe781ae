package pgtest

import (
	"context"
	"io"
	"os"
	"slices"
	"sync"
	"testing"
)

// ends are the cleanups of what tests share.
var ends struct {
	sync.Mutex
	of []func()
}

// Common is a test for making what several tests share: its context, its directories and what it cleans up last until
// all tests of the binary have ended. Everything else is that of the given test, the first one that needs the fixture.
func Common(t testing.TB) testing.TB { return common{t} }

type common struct{ testing.TB }

func (common) Context() context.Context { return context.Background() }

func (common) Output() io.Writer { return os.Stderr }

func (common) Cleanup(end func()) {
	ends.Lock()
	defer ends.Unlock()
	ends.of = append(ends.of, end)
}

func (c common) TempDir() string {
	c.Helper()
	dir, err := os.MkdirTemp("", "common")
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// endCommon cleans up what tests shared, in the order of t.Cleanup.
func endCommon() {
	for _, end := range slices.Backward(ends.of) {
		end()
	}
}
