package blocking

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/internal/measurements/arrival"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/keep_sample.sql
	keepSample string
	//go:embed sql/touched.sql
	touchedEpisodes string
	//go:embed sql/between.sql
	samplesBetween string
	//go:embed sql/put_episode.sql
	putEpisode string
	//go:embed sql/drop_sample_texts.sql
	dropSampleTexts string
	//go:embed sql/drop_episode_texts.sql
	dropEpisodeTexts string
	//go:embed sql/drop_sample_people.sql
	dropSamplePeople string
	//go:embed sql/drop_episode_people.sql
	dropEpisodePeople string
	//go:embed sql/keeps.sql
	keepsQuery string
	//go:embed sql/forget_samples.sql
	forgetSamples string
	//go:embed sql/forget_episodes.sql
	forgetEpisodes string
)

// How long things are kept.
const (
	SamplesKept  = arrival.Latest // as raw samples of measurements are
	EpisodesKept = 400 * 24 * time.Hour
	// fully is for how long each sample of an episode keeps its tree; after that one a minute
	// does. A standby that waits for an advisory lock waits for weeks.
	fully = 10 * time.Minute
)

// Record keeps samples of an organization, and makes episodes of them; received is when they came.
// The same sample again changes nothing, and neither does one that is older than samples are kept
// or more than five minutes in the future. Samples may come in any order.
func Record(ctx context.Context, db *sqlx.DB, organization uuid.UUID, received time.Time, samples []Sample) error {
	samples = slices.Clone(samples)
	slices.SortStableFunc(samples, byTime) // the one order in which everybody locks
	for _, s := range samples {
		if !arrival.InTime(s.At, received) {
			continue
		}
		err := transact.Once(ctx, db, nil, func(tx *sqlx.Tx) error {
			s, err := allowed(ctx, tx, organization, s.Fit())
			if err != nil {
				return err
			}
			s.At = instant.Cut(s.At)
			return (&keeping{tx, organization, s.Instance, s.Advisory}).keep(ctx, s)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keeping keeps samples of one class of a server.
type keeping struct {
	tx                     *sqlx.Tx
	organization, instance uuid.UUID
	advisory               bool
}

// keep stores a sample, and changes the episodes that it touches.
func (k *keeping) keep(ctx context.Context, s Sample) error {
	if err := statement.Exec(ctx, k.tx, "wait for other samples of a server", `SELECT pg_advisory_xact_lock(hashtextextended('blocking ' || $1::uuid, 0))`, k.instance); err != nil {
		return err
	}
	if s.Deadlock != nil {
		return k.keepDeadlock(ctx, s)
	}
	root, err := s.root()
	if err != nil {
		return err
	}
	waiting := 0
	if root != nil {
		waiting = max(Waiting(s.Nodes), 1) + s.Omitted
	}
	episodes, err := statement.All[row](ctx, k.tx, "read the episodes near a sample", touchedEpisodes, k.organization, k.instance, k.advisory, s.At, Gap.Seconds())
	if err != nil {
		return err
	}
	tree, err := k.tree(ctx, s, episodes, waiting)
	if err != nil {
		return err
	}
	n, err := statement.Affected(ctx, k.tx, "keep a sample of who waits", keepSample, k.organization, k.instance, k.advisory, s.At, waiting, s.seconds(), root, tree, s.end())
	if err != nil || n == 0 {
		return err
	}
	one := sampled{At: s.At, Waiting: waiting, Seconds: s.seconds(), End: s.end()}
	if root != nil {
		one.Root = []byte(*root)
	}
	return k.change(ctx, one, episodes)
}

// tree is the tree to keep of a sample; nil: there is none, or one of the same minute is enough.
func (k *keeping) tree(ctx context.Context, s Sample, episodes []row, waiting int) (*string, error) {
	if waiting == 0 {
		return nil, nil
	}
	for _, e := range episodes {
		if e.First.After(s.At.Add(-fully)) || waiting > e.Waiting {
			continue
		}
		minute := s.At.Truncate(time.Minute)
		has, err := statement.One[bool](ctx, k.tx, "look for a tree of the same minute", `SELECT EXISTS (SELECT FROM blocking_samples
			WHERE organization_id = $1 AND instance_id = $2 AND advisory = $3 AND at >= $4 AND at < $5 AND tree IS NOT NULL)`,
			k.organization, k.instance, k.advisory, minute, minute.Add(time.Minute))
		if err != nil || has {
			return nil, err
		}
	}
	text, err := json.Marshal(Tree{Nodes: s.Nodes, Omitted: s.Omitted})
	out := string(text)
	return &out, err
}

// change makes anew the episodes that a sample touches. A sample that is the newest one only
// continues or ends the last episode: those before it need not be read.
func (k *keeping) change(ctx context.Context, s sampled, episodes []row) error {
	from, to := s.At, s.At.Add(Gap) // whatever ends the episode of this sample
	if len(episodes) == 1 {
		if last := episodes[0]; last.continues(s.At) && s.At.After(last.Last) {
			from = last.Last
		}
	}
	samples, err := k.between(ctx, from, to)
	if err != nil {
		return err
	}
	if from.Before(s.At) && len(samples) == 2 { // the last one and this one
		last := episodes[0]
		if s.Waiting == 0 {
			last.end(s)
		} else {
			last.add(s)
		}
		return k.put(ctx, nil, []row{last})
	}
	if len(episodes) > 0 {
		for _, e := range episodes {
			from, to = instant.Earlier(from, e.First), instant.Later(to, e.Last)
			if e.Ended != nil {
				to = instant.Later(to, *e.Ended)
			}
		}
		if samples, err = k.between(ctx, from, to); err != nil {
			return err
		}
	}
	return k.put(ctx, episodes, fold(samples, episodes))
}

func (k *keeping) between(ctx context.Context, from, to time.Time) ([]sampled, error) {
	return statement.All[sampled](ctx, k.tx, "read samples of who waits", samplesBetween, k.organization, k.instance, k.advisory, from, to)
}

// put writes episodes in the place of others.
func (k *keeping) put(ctx context.Context, before, after []row) error {
	var gone []uuid.UUID
	for _, e := range before {
		gone = append(gone, e.ID)
	}
	if len(gone) > 0 {
		if err := statement.Exec(ctx, k.tx, "delete episodes that were made anew", `DELETE FROM blocking_episodes WHERE organization_id = $1 AND id = ANY ($2)`,
			k.organization, statement.IDs(gone)); err != nil {
			return err
		}
	}
	for _, e := range after {
		err := statement.Exec(ctx, k.tx, "keep an episode", putEpisode, k.organization, e.ID, k.instance, k.advisory,
			e.First, e.Last, e.Ended, e.Waiting, e.Peak, e.Seconds, string(e.Root), e.End)
		if err != nil {
			return err
		}
	}
	return nil
}

// DropTexts deletes the statements of an organization, in the transaction that turns texts off, which has locked the
// organization's row.
func DropTexts(ctx context.Context, tx sqlx.ExecerContext, organization uuid.UUID) error {
	return drop(ctx, tx, "delete the statements of sessions that waited", organization, dropSampleTexts, dropEpisodeTexts, dropDeadlockTexts)
}

// DropPeople deletes the users, applications and clients of an organization, likewise.
func DropPeople(ctx context.Context, tx sqlx.ExecerContext, organization uuid.UUID) error {
	return drop(ctx, tx, "delete whose sessions waited", organization, dropSamplePeople, dropEpisodePeople, dropDeadlockPeople)
}

func drop(ctx context.Context, tx sqlx.ExecerContext, what string, organization uuid.UUID, queries ...string) error {
	for _, query := range queries {
		if err := statement.Exec(ctx, tx, what, query, organization); err != nil {
			return err
		}
	}
	return nil
}

// allowed leaves of a sample what its organization keeps: its people and its statements only where that is turned on. An
// organization that turns them off waits for those who write.
func allowed(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, s Sample) (Sample, error) {
	keeps, found, err := statement.Find[struct{ People, Texts bool }](ctx, tx, "ask what is kept of sessions", keepsQuery, organization)
	if err != nil || !found {
		return s, err
	}
	s.Nodes = slices.Clone(s.Nodes)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !keeps.People {
			n.User, n.Application, n.Client = "", "", ""
		}
		if !keeps.Texts && !Vacuums(*n) {
			n.Statement = ""
		}
	}
	return s, nil
}

// portion is how many rows one statement deletes.
const portion = 1000

// Forget deletes what is older than it is kept, by the database's clock.
func Forget(ctx context.Context, db *sqlx.DB) error {
	for _, of := range []struct {
		what, query string
		args        []any
	}{
		{"forget old samples of who waits", forgetSamples, []any{SamplesKept.Seconds(), portion}},
		{"forget old episodes", forgetEpisodes, []any{EpisodesKept.Seconds(), portion}},
		{"forget old deadlocks", forgetDeadlocks, []any{EpisodesKept.Seconds(), portion, SidesKept.Seconds()}},
	} {
		for {
			n, err := statement.Affected(ctx, db, of.what, of.query, of.args...)
			if err != nil {
				return err
			}
			if n < portion {
				break
			}
		}
	}
	return nil
}
