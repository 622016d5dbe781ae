package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// Step says which programs may run beside a migration. It is in a line of the migration's head:
// "-- Step: expand". A migration without one is Alone.
type Step string

// Steps.
const (
	// Expand adds: earlier programs continue beside it, and can start again.
	Expand Step = "expand"
	// Contract removes what only earlier programs need. It waits for Finish, or for a migration
	// after it.
	Contract Step = "contract"
	// Alone changes what earlier programs read or write: none of them may run any more.
	Alone Step = "alone"
)

var stepLine = regexp.MustCompile(`(?m)^-- Step: (.*)$`)

// stepOf reads a migration's head.
func stepOf(files fs.FS, file string) (Step, error) {
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return "", fmt.Errorf("read migration %s: %w", path.Base(file), err)
	}
	head, _, _ := strings.Cut(string(text), "-- +goose")
	said := stepLine.FindAllStringSubmatch(head, -1)
	if len(said) == 0 {
		return Alone, nil
	}
	step := Step(said[0][1])
	if known := step == Expand || step == Contract || step == Alone; !known || len(said) > 1 {
		return "", fmt.Errorf("migration %s: its head has one line \"-- Step: expand\", \"contract\" or \"alone\", not %q", path.Base(file), said)
	}
	return step, nil
}

// schema is a sequence of migrations and what each of them is.
type schema struct {
	*goose.Provider
	sources []*goose.Source
	steps   map[int64]Step
}

// latest is the last existing migration.
func (s schema) latest() int64 { return s.sources[len(s.sources)-1].Version }

// due is the last migration that is not left to Finish.
func (s schema) due() int64 {
	n := len(s.sources)
	for n > 1 && s.steps[s.sources[n-1].Version] == Contract {
		n--
	}
	return s.sources[n-1].Version
}

// breaking is the last migration up to one that is not applied yet and breaks earlier programs;
// nil: there is none.
func (s schema) breaking(upTo int64, applied map[int64]time.Time) (last *goose.Source) {
	for _, source := range s.sources {
		if _, is := applied[source.Version]; !is && source.Version <= upTo && s.steps[source.Version] != Expand {
			last = source
		}
	}
	return last
}

// versions is goose's table of applied migrations, which also says what earlier programs need
// not know: it has the number of an Expand as a negative one.
//
// Every Muster refuses to start if the greatest number of the table is one that it does not
// know, and since the first version it looks at nothing else. So to an earlier program, an
// expanded schema is the one it knows. A second table or column for this would have told
// nothing to existing programs.
type versions struct {
	database.StoreExtender
	steps map[int64]Step
}

func newVersions(steps map[int64]Step) (versions, error) {
	plain, err := database.NewStore(database.DialectPostgres, goose.DefaultTablename)
	if err != nil {
		return versions{}, err
	}
	extended, ok := plain.(database.StoreExtender)
	if !ok {
		return versions{}, errors.New("goose's store does not say whether its table exists")
	}
	return versions{extended, steps}, nil
}

// Insert is database.Store's, as is ListMigrations.
func (v versions) Insert(ctx context.Context, db database.DBTxConn, applied database.InsertRequest) error {
	if v.steps[applied.Version] == Expand {
		applied.Version = -applied.Version
	}
	return v.StoreExtender.Insert(ctx, db, applied)
}

// ListMigrations has them by their own numbers.
func (v versions) ListMigrations(ctx context.Context, db database.DBTxConn) ([]*database.ListMigrationsResult, error) {
	list, err := v.StoreExtender.ListMigrations(ctx, db)
	for _, m := range list {
		m.Version = max(m.Version, -m.Version)
	}
	return list, err
}
