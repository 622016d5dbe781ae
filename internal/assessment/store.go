package assessment

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/findings"
	"muster/internal/assessment/risks"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
	"muster/internal/servers"
)

// Modes of classification of a server's databases.
const (
	ClassifyOff    = "off"
	ClassifyNames  = "names"  // column names only
	ClassifyValues = "values" // samples of values, which never leave the collector
)

// History is how long assessments are kept; the scorecard looks back a year.
const History = 400 * 24 * time.Hour

// Sealer encrypts connection strings at rest; *secrets.Ring is one.
type Sealer interface {
	Seal(plaintext, context []byte) ([]byte, error)
	Open(sealed, context []byte) ([]byte, error)
	// SealedUnder is the fingerprint of the key that a ciphertext names.
	SealedUnder(sealed []byte) string
	// Mark is the program's own mark on a text, and Marks checks marks.
	Mark(purpose string, text []byte) string
	Marks(ctx context.Context, q sqlx.QueryerContext) (*secrets.Marks, error)
}

// Store keeps how servers are reached and what was last seen there. Every
// method looks at one organization only, except Claim and Prune, which serve
// the collectors of the whole installation.
type Store struct {
	// Altered is called for stored data of a server that is not what the program wrote; nil: it
	// is not called.
	Altered func(sentence string)
	// Standing reads what caps the scores of assessments beside their checks, in their order; nil: nobody looks.
	Standing func(ctx context.Context, organization uuid.UUID, all []changes.Assessed) ([]changes.Standing, error)

	// Unscored is called if that cannot be read; nil: it is not called.
	Unscored func(ctx context.Context, err error)

	db   *sqlx.DB
	seal Sealer
}

// NewStore returns a store on db that seals connection strings with seal.
func NewStore(db *sqlx.DB, seal Sealer) *Store { return &Store{db: db, seal: seal} }

// Credentials are how one instance is reached.
type Credentials struct {
	Organization uuid.UUID
	Instance     uuid.UUID
	Engine       fleet.Engine
	DSN          string // never logged, never returned by the API
	Classify     string // empty on SaveCredentials: as it was, ClassifyNames at first
	// Own is for the server on which Muster itself runs. Only the installation registers it,
	// for its demo; never set it for a user's request.
	Own bool
}

// Target is the server that they lead to, as far as reach lets them. Errors: as
// servers.Reach's.
func (c Credentials) Target(reach *servers.Reach) (servers.Target, error) {
	if c.Own {
		return reach.OwnTarget(c.Engine, c.DSN)
	}
	return reach.Target(c.Engine, c.DSN)
}

// Failure is why the last attempt at a server did not reach it.
type Failure struct {
	Class    string // refused, timeout, authentication, tls, database, not_allowed
	Sentence string
	At       time.Time
	Since    time.Time // the first attempt that failed since the last success
}

// TargetState is the state of an instance's assessment in lists. The zero State is an instance
// without a registered connection and without a feed.
type TargetState struct {
	Collected        bool // it has a connection
	Fed              bool // a feed has sent an assessment
	Classify         string
	LastSeenAt       *time.Time // a connection succeeded
	LastAssessedAt   *time.Time // checks were run
	LastClassifiedAt *time.Time // a classification completed
	LastError        *Failure   // nil: the last attempt succeeded, or there was none
	// MissingGrants are those that the checks lack, and those of the statistics, also where
	// they are declined.
	MissingGrants []snapshot.MissingGrant
	Standby       bool   // at its last assessment
	Upstream      string // of a standby: where it gets its changes from, as host:port; empty: not known
}

// addMissing adds those grants that no other asks for already.
func (s *TargetState) addMissing(grants []snapshot.MissingGrant) {
	for _, g := range grants {
		if !slices.ContainsFunc(s.MissingGrants, func(known snapshot.MissingGrant) bool {
			return known.Statement == g.Statement && known.Object == g.Object
		}) {
			s.MissingGrants = append(s.MissingGrants, g)
		}
	}
}

// DatabaseClassification is the last classification of one database.
type DatabaseClassification struct {
	Database       string
	Classification snapshot.Classification
}

//go:embed sql/save_credentials.sql
var saveCredentialsSQL string

// SaveCredentials registers or replaces how an instance is reached and makes
// it due at once. It runs on q, so that a caller may join it to a transaction.
// It returns *RetiredKeyError.
func (s *Store) SaveCredentials(ctx context.Context, q sqlx.ExtContext, c Credentials) error {
	sealed, err := s.seal.Seal([]byte(c.DSN), sealContext(c.Organization, c.Instance))
	if err != nil {
		return fmt.Errorf("seal the connection of instance %s: %w", c.Instance, err)
	}
	key := s.seal.SealedUnder(sealed)
	result, err := q.ExecContext(ctx, saveCredentialsSQL, c.Organization, c.Instance, string(c.Engine), sealed, c.Classify, key, c.Own)
	if err != nil {
		return fmt.Errorf("save the connection of instance %s: %w", c.Instance, err)
	}
	if saved, err := result.RowsAffected(); err != nil || saved == 0 {
		return errors.Join(err, &RetiredKeyError{Fingerprint: key})
	}
	return nil
}

// Credentials returns how an instance is reached; ok is false where this
// organization has no connection for that id.
func (s *Store) Credentials(ctx context.Context, organization, instance uuid.UUID) (c Credentials, ok bool, err error) {
	return s.credentials(ctx, s.db, "", organization, instance)
}

// LockCredentials is Credentials, locked until tx ends: for callers that replace them with a
// value derived from them.
func (s *Store) LockCredentials(ctx context.Context, tx *sqlx.Tx, organization, instance uuid.UUID) (c Credentials, ok bool, err error) {
	return s.credentials(ctx, tx, " FOR UPDATE", organization, instance)
}

func (s *Store) credentials(ctx context.Context, q sqlx.QueryerContext, locking string, organization, instance uuid.UUID) (c Credentials, ok bool, err error) {
	type target struct {
		Credentials
		Sealed []byte `db:"sealed_dsn"`
	}
	row, ok, err := statement.Find[target](ctx, q, "read the connection of instance "+instance.String(), `SELECT engine, sealed_dsn, classify, own FROM assessment_targets
		WHERE organization_id = $1 AND instance_id = $2`+locking, organization, instance)
	if err != nil || !ok {
		return Credentials{}, false, err
	}
	dsn, err := s.seal.Open(row.Sealed, sealContext(organization, instance))
	if err != nil {
		return Credentials{}, false, fmt.Errorf("open the sealed connection of instance %s: %w", instance, err)
	}
	row.Organization, row.Instance, row.DSN = organization, instance, string(dsn)
	return row.Credentials, true, nil
}

// Forget erases an instance's connection, its classification, its findings, the values of its
// changes, and what was last seen of its replication, backups and room. Assessments and
// measurements by the minute or day stay until they are pruned, because histories need them.
func (s *Store) Forget(ctx context.Context, q sqlx.ExtContext, organization, instance uuid.UUID) error {
	for _, table := range []string{
		"assessment_targets", "assessment_feeds", "assessment_classifications", "declined_grants", "server_identities",
		"replication_states", "backup_looks", "backup_newest", "room_states",
	} {
		err := statement.Exec(ctx, q, "forget the connection of instance "+instance.String(), `DELETE FROM `+table+` WHERE organization_id = $1 AND instance_id = $2`, organization, instance)
		if err != nil {
			return err
		}
	}
	if err := findings.Forget(ctx, q, organization, instance); err != nil {
		return err
	}
	if err := risks.Forget(ctx, q, organization, instance); err != nil {
		return err
	}
	return changes.Forget(ctx, q, organization, instance)
}

//go:embed sql/latest.sql
var latestSQL string

// LatestAssessment returns the newest assessment that reached the server, and where none
// ever did, the newest attempt; nil where nothing was ever tried.
func (s *Store) LatestAssessment(ctx context.Context, organization, instance uuid.UUID) (*Kept, error) {
	return s.assessment(ctx, latestSQL, organization, instance, nil)
}

// Latest returns LatestAssessment with the last classification of each database by name.
func (s *Store) Latest(ctx context.Context, organization, instance uuid.UUID) (*snapshot.Assessment, []DatabaseClassification, error) {
	a, err := s.LatestAssessment(ctx, organization, instance)
	if err != nil {
		return nil, nil, err
	}
	classified, err := s.Classifications(ctx, organization, instance)
	return a.Facts(), classified[instance].Databases, cmp.Or(err, classified[instance].Unreadable)
}

// How far back the growth of databases is looked for, and the least time it is over.
const (
	growthOver      = 30 * 24 * time.Hour
	leastGrowthOver = 24 * time.Hour
)

// Sizes are how large databases were when a server was assessed.
type Sizes struct {
	At    time.Time
	Bytes map[string]int64 // by name; absent: it was not there, or not measured
}

//go:embed sql/sizes.sql
var sizesSQL string

// DatabaseSizes returns the sizes of the newest assessment that reached the server, and those
// of the oldest one of the last 30 days that is at least a day older. Either is zero if there
// is none.
func (s *Store) DatabaseSizes(ctx context.Context, organization, instance uuid.UUID) (now, before Sizes, err error) {
	type assessed struct {
		At    time.Time `db:"recorded_at"`
		Facts []byte    `db:"facts"`
	}
	rows, err := statement.All[assessed](ctx, s.db, "read the sizes of the databases of instance "+instance.String(), sizesSQL,
		organization, instance, growthOver.Seconds(), leastGrowthOver.Seconds())
	if err != nil {
		return now, before, err
	}
	both := []*Sizes{&now, &before}
	for i, row := range rows {
		var facts struct{ Databases []snapshot.DatabaseFact }
		if err := json.Unmarshal(row.Facts, &facts); err != nil {
			return now, before, fmt.Errorf("decode the databases of instance %s: %w", instance, err)
		}
		both[i].At, both[i].Bytes = row.At, map[string]int64{}
		for _, d := range facts.Databases {
			if d.SizeBytes != nil {
				both[i].Bytes[d.Name] = *d.SizeBytes
			}
		}
	}
	return now, before, nil
}

// Reached returns the newest assessment that reached the server within maxAge by the database's
// clock; nil if there is none.
func (s *Store) Reached(ctx context.Context, organization, instance uuid.UUID, maxAge time.Duration) (*Kept, error) {
	return s.assessment(ctx, latestSQL, organization, instance, maxAge.Seconds())
}

// FirstSeen says since when each finding of some instances is there, by its id.
func (s *Store) FirstSeen(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]time.Time, error) {
	return findings.FirstSeen(ctx, s.db, organization, instances)
}

// Risks returns what is on record of the risks of some instances.
func (s *Store) Risks(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) ([]snapshot.RiskRecord, error) {
	return risks.Of(ctx, s.db, organization, instances)
}

// RiskOn returns the instance and the table of a risk.
func (s *Store) RiskOn(ctx context.Context, organization uuid.UUID, id string) (instance uuid.UUID, table string, ok bool, err error) {
	at, ok, err := risks.Find(ctx, s.db, organization, id)
	if err != nil || !ok {
		return uuid.Nil, "", false, err
	}
	table = at.Table
	if at.Schema != "" {
		table = at.Schema + "." + table
	}
	return at.Instance, at.Database + " / " + table, true, nil
}

// History counts the findings that were there at earlier times and have gone since.
func (s *Store) History(ctx context.Context, p findings.Past) (since *time.Time, gone []findings.Gone, err error) {
	return findings.History(ctx, s.db, p)
}

// Newest returns the newest assessment whatever its outcome; nil where nothing
// was ever tried.
func (s *Store) Newest(ctx context.Context, organization, instance uuid.UUID) (*Kept, error) {
	return s.assessment(ctx, `SELECT id, instance_id, recorded_at, facts FROM assessments WHERE organization_id = $1 AND instance_id = $2
		ORDER BY recorded_at DESC LIMIT 1`, organization, instance)
}

// Assessment returns the assessment with an id; nil if there is none.
func (s *Store) Assessment(ctx context.Context, organization, id uuid.UUID) (*Kept, error) {
	return s.assessment(ctx, `SELECT id, instance_id, recorded_at, facts FROM assessments WHERE organization_id = $1 AND id = $2`, organization, id)
}

// assessment returns the one that a query finds for an id, or nil. Error: *UnreadableError.
func (s *Store) assessment(ctx context.Context, query string, organization, about uuid.UUID, more ...any) (*Kept, error) {
	type stored struct {
		Stored
		Facts []byte `db:"facts"`
	}
	row, ok, err := statement.Find[stored](ctx, s.db, "read an assessment about "+about.String(), query, append([]any{organization, about}, more...)...)
	if err != nil || !ok {
		return nil, err
	}
	a := &Kept{Stored: row.Stored, Assessment: &snapshot.Assessment{}}
	a.At, a.SHA256 = row.At.UTC(), digest(row.Facts)
	if err := json.Unmarshal(row.Facts, a.Assessment); err != nil {
		return nil, &UnreadableError{Stored: a.Stored, Err: err}
	}
	return a, nil
}

// Classified is what is known of the databases of an instance.
type Classified struct {
	Databases  []DatabaseClassification // by name
	SHA256     string                   // as fleet.AssessmentKept has it, or Undecodable
	Unreadable error                    // of a database that is not among them, because what is stored cannot be decoded
}

// Undecodable stands for the digest of classifications that cannot be decoded: the program
// writes none such.
const Undecodable = "undecodable"

// Classifications returns what is known of the databases of some instances.
func (s *Store) Classifications(ctx context.Context, organization uuid.UUID, instances ...uuid.UUID) (map[uuid.UUID]Classified, error) {
	type stored struct {
		classification
		Facts []byte `db:"facts"`
	}
	rows, err := statement.All[stored](ctx, s.db, fmt.Sprintf("read the classifications of %d instances", len(instances)), `SELECT instance_id, database_name, status, facts
		FROM assessment_classifications WHERE organization_id = $1 AND instance_id = ANY ($2) ORDER BY database_name COLLATE "C"`, organization, statement.IDs(instances))
	if err != nil {
		return nil, err
	}
	digested := make(map[uuid.UUID][]classification, len(instances))
	out := make(map[uuid.UUID]Classified, len(instances))
	for _, row := range rows {
		row.SHA256 = digest(row.Facts)
		digested[row.Instance] = append(digested[row.Instance], row.classification)
		of, c := out[row.Instance], DatabaseClassification{Database: row.Database}
		if err := json.Unmarshal(row.Facts, &c.Classification); err != nil {
			of.Unreadable = fmt.Errorf("decode the classification of database %q: %w", row.Database, err)
		} else {
			of.Databases = append(of.Databases, c)
		}
		out[row.Instance] = of
	}
	for _, id := range instances {
		of := out[id]
		if of.SHA256 = digestOf(digested[id]); of.Unreadable != nil {
			of.SHA256 = Undecodable
		}
		out[id] = of
	}
	return out, nil
}

// Targets are the instances of an organization that have a connection registered, or that
// a feed assesses: there are findings of no others.
func (s *Store) Targets(ctx context.Context, organization uuid.UUID) (map[uuid.UUID]bool, error) {
	return statement.Map[uuid.UUID, bool](ctx, s.db, "list the instances that are assessed",
		`SELECT instance_id, true FROM assessment_targets WHERE organization_id = $1
		UNION SELECT instance_id, true FROM assessment_feeds WHERE organization_id = $1`, organization)
}

//go:embed sql/states.sql
var statesSQL string

// States returns the states of those ids that have a connection registered in this
// organization, or that a feed has assessed; the others are absent, and the zero State is
// theirs.
func (s *Store) States(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]TargetState, error) {
	var rows []struct {
		Instance       uuid.UUID  `db:"instance_id"`
		Collected      bool       `db:"collected"`
		Fed            bool       `db:"fed"`
		Classify       string     `db:"classify"`
		LastSeen       *time.Time `db:"last_seen_at"`
		LastAssessed   *time.Time `db:"last_assessed_at"`
		LastClassified *time.Time `db:"last_classified_at"`
		ErrorClass     string     `db:"last_error_class"`
		Error          string     `db:"last_error"`
		ErrorAt        *time.Time `db:"last_error_at"`
		ErrorSince     *time.Time `db:"failing_since"`
		Missing        []byte     `db:"missing_grants"`
		Statistics     []byte     `db:"missing_for_statistics"`
		Standby        bool       `db:"standby"`
		Upstream       string     `db:"upstream"`
	}
	if err := s.db.SelectContext(ctx, &rows, statesSQL, organization, ids); err != nil {
		return nil, fmt.Errorf("read the states of %d instances: %w", len(ids), err)
	}
	out := make(map[uuid.UUID]TargetState, len(rows))
	for _, row := range rows {
		state := TargetState{
			Collected: row.Collected, Fed: row.Fed, Classify: row.Classify, LastSeenAt: utc(row.LastSeen),
			LastAssessedAt: utc(row.LastAssessed), LastClassifiedAt: utc(row.LastClassified), Standby: row.Standby, Upstream: row.Upstream,
		}
		if row.ErrorAt != nil {
			state.LastError = &Failure{Class: row.ErrorClass, Sentence: row.Error, At: row.ErrorAt.UTC(), Since: row.ErrorAt.UTC()}
			if row.ErrorSince != nil { // else it failed before this was kept
				state.LastError.Since = row.ErrorSince.UTC()
			}
		}
		for _, list := range [][]byte{row.Missing, row.Statistics} {
			var missing []snapshot.MissingGrant
			if err := json.Unmarshal(list, &missing); err != nil {
				return nil, fmt.Errorf("decode the missing grants of instance %s: %w", row.Instance, err)
			}
			state.addMissing(missing)
		}
		out[row.Instance] = state
	}
	return out, nil
}

// Prune deletes assessments older than History, findings that have been gone for as long
// and the values of changes that their organization does not want kept any longer, and
// returns how many assessments it deleted.
func (s *Store) Prune(ctx context.Context) (int64, error) {
	if _, err := findings.Prune(ctx, s.db, History); err != nil {
		return 0, err
	}
	if err := risks.Prune(ctx, s.db, History); err != nil {
		return 0, err
	}
	if _, err := changes.Prune(ctx, s.db); err != nil {
		return 0, err
	}
	return statement.Affected(ctx, s.db, "prune old assessments", `DELETE FROM assessments
		WHERE recorded_at < now() - make_interval(secs => $1)`, History.Seconds())
}

// sealContext binds a sealed connection to its row: moved to another
// organization or instance, it does not open.
func sealContext(organization, instance uuid.UUID) []byte {
	return []byte("assessment target " + organization.String() + "/" + instance.String())
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// Settings are those of an instance as the last assessment that reached it found them;
// none where there was none.
func (s *Store) Settings(ctx context.Context, organization, instance uuid.UUID) ([]changes.Setting, error) {
	return changes.Settings(ctx, s.db, organization, instance)
}

// StandingOf is what caps the scores of assessments beside their checks, in their order. That it cannot be read loses no
// assessment: these have no score.
func (s *Store) StandingOf(ctx context.Context, organization uuid.UUID, all []changes.Assessed) []changes.Standing {
	if s.Standing == nil {
		return make([]changes.Standing, len(all))
	}
	standings, err := s.Standing(ctx, organization, all)
	if err != nil {
		if s.Unscored != nil {
			s.Unscored(ctx, fmt.Errorf("%d assessments have no score: %w", len(all), err))
		}
		return slices.Repeat([]changes.Standing{{Unread: true}}, len(all))
	}
	return standings
}
