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

// Step says who may run beside a migration. It is in a line of the migration's head:
// "-- Step: expand". One that does not say is Alone.
type Step string

// Steps.
const (
	// Expand adds: programs from before run on beside it, and start again.
	Expand Step = "expand"
	// Contract takes away what only programs from before need. It waits for Finish, or for a
	// migration behind it.
	Contract Step = "contract"
	// Alone changes what programs from before read or write: none of them may run any more.
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

// latest is the last migration that there is.
func (s schema) latest() int64 { return s.sources[len(s.sources)-1].Version }

// due is the last migration that is not left to Finish.
func (s schema) due() int64 {
	n := len(s.sources)
	for n > 1 && s.steps[s.sources[n-1].Version] == Contract {
		n--
	}
	return s.sources[n-1].Version
}

// breaking is the last migration up to one that is not applied yet and breaks programs from
// before; nil: there is none.
func (s schema) breaking(upTo int64, applied map[int64]time.Time) (last *goose.Source) {
	for _, source := range s.sources {
		if _, is := applied[source.Version]; !is && source.Version <= upTo && s.steps[source.Version] != Expand {
			last = source
		}
	}
	return last
}

// versions is goose's table of what was applied, which also says what programs from before
// need not know: the number of an Expand stands in it as a negative one.
//
// Every Muster refuses to start where the greatest number of the table is one that it does
// not know, and since the first one looks at nothing else. So to a program from before, an
// expanded schema is the one it knows; a second table or column for this would have told
// nothing to those that are out there.
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
