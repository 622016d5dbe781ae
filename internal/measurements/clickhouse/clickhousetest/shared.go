package clickhousetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// The cluster of this test binary, and how many databases it has. Package state is what a
// test binary has: tests share nothing else.
var (
	shared struct {
		once    sync.Once
		cluster *Cluster
		err     error
	}
	databases atomic.Int32
)

// Run runs the tests and ends the shared cluster. Use it in TestMain.
func Run(run func() int) int {
	code := run()
	shared.once.Do(func() {}) // no test asked for it: none will
	if shared.cluster != nil {
		shared.cluster.close()
	}
	return code
}

// Shared is a cluster of two shards that all tests of this binary share. End none of its
// servers.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	program := Program(t)
	shared.once.Do(func() { shared.cluster, shared.err = start(context.Background(), program, Options{Shards: 2}) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.cluster
}

// Database is the name of a database that no other test uses. The test that opens it creates
// it, and it is dropped with the test.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	t.Cleanup(func() {
		for _, s := range c.Servers {
			// Servers before 20.8 fail where one of their merges makes a file meanwhile. What is
			// left goes with the cluster.
			if err := s.exec("DROP DATABASE IF EXISTS " + name); err != nil {
				t.Logf("drop %s: %v", name, err)
			}
		}
	})
	return name
}
