package inspection

import (
	"context"

	"muster/internal/assessment/changes"
	"muster/internal/assessment/feed"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// Inspector assesses the servers of one engine. It keeps no state between servers.
type Inspector interface {
	// Assess assesses one server, and reads its state for the comparison with the previous
	// assessment. It always returns an assessment; one that did not reach the server says why.
	// If ctx ended meanwhile, the assessment is worthless.
	Assess(ctx context.Context, target servers.Target) (snapshot.Assessment, changes.State)
	// Classify looks for personal data in one database, by the names of columns or by
	// samples of their values, too.
	Classify(ctx context.Context, target servers.Target, database, mode string) snapshot.Classification
	// Databases lists the names of a server's databases, as Assess does, as of now.
	Databases(ctx context.Context, target servers.Target) ([]string, error)
	// JudgeBy sets the feed by which versions are judged; until then it is the embedded one.
	JudgeBy(source feed.Source)
}
