package clickhouse

import (
	"context"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// quorum asks for an insert that all replicas have when it is acknowledged, so that
// whichever is asked afterwards answers right. Where one is away, nothing is put: what is
// to be put stays where it is, in the head.
func quorum(ctx context.Context, replicas int, limit time.Duration) context.Context {
	return driver.Context(ctx, driver.WithSettings(driver.Settings{
		"insert_quorum": replicas, "insert_quorum_timeout": int(limit.Milliseconds()),
	}))
}
