package engine

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"

	"muster/domain/fleet"
	"muster/internal/engine/mongodb"
	"muster/internal/engine/mysql"
	"muster/internal/engine/oracle"
	"muster/internal/engine/postgresql"
	"muster/internal/engine/sqlserver"
	"muster/internal/engine/trait"
	"muster/internal/intake/sqltext"
)

// Source is the text of the values. Reports quote it, so the renderer's identity covers it.
//
//go:embed *.go */*.go
var Source embed.FS

//go:generate go run pack.go
//go:embed checks.zip
var packedChecks []byte

// Checks holds the definitions of checks, in the folder checks of each engine's folder.
func Checks() (fs.FS, error) {
	return zip.NewReader(bytes.NewReader(packedChecks), int64(len(packedChecks)))
}

// all is the one list of engines, in the order in which answers and reports name them.
var all = []*trait.Engine{&postgresql.Engine, &sqlserver.Engine, &oracle.Engine, &mysql.Engine, &mongodb.Engine}

// All returns every engine.
func All() []*trait.Engine { return append([]*trait.Engine(nil), all...) }

// UnknownError says that a name is of no engine.
type UnknownError struct{ Name fleet.Engine }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%q is no engine that Muster knows", string(e.Name))
}

// Of returns the engine of a name. Error: *UnknownError.
func Of(name fleet.Engine) (*trait.Engine, error) {
	for _, e := range all {
		if e.Name == name {
			return e, nil
		}
	}
	return nil, &UnknownError{name}
}

// Described returns the engine that a document names. Documents outlive the binary that wrote
// them: an engine that this one does not know has its name for a title, and general words.
func Described(name string) *trait.Engine {
	e, err := Of(fleet.Engine(name))
	if err != nil {
		return &trait.Engine{Name: fleet.Engine(name), Title: name, Words: trait.Usual}
	}
	return e
}

// ConnectedOf returns how Muster connects to the servers of an engine that a document names:
// the zero value if Muster does not.
func ConnectedOf(name string) trait.Connected {
	if e, err := Of(fleet.Engine(name)); err == nil && e.Connected != nil {
		return *e.Connected
	}
	return trait.Connected{}
}

// ChecksOf returns how the checks of an engine that a document names are written. No id fits
// the form of an engine without checks.
func ChecksOf(name string) trait.Checks {
	if e, err := Of(fleet.Engine(name)); err == nil && e.Checks != nil {
		return *e.Checks
	}
	return trait.Checks{}
}

// FixedReleases says whether the feed knows which releases of an engine fix a CVE, of an engine
// that a document names (trait.Feed).
func FixedReleases(name string) bool {
	e, err := Of(fleet.Engine(name))
	return err == nil && e.Feed != nil && e.Feed.FixedReleases
}

// KeptBy is who keeps the version of an edition of an engine up to date; empty: the server's owner.
func KeptBy(name, edition string) string {
	e, err := Of(fleet.Engine(name))
	if err != nil || e.Feed == nil || e.Feed.KeptBy == nil {
		return ""
	}
	return e.Feed.KeptBy(edition)
}

// Titles returns what people call the engines of which in is true.
func Titles(in func(*trait.Engine) bool) (titles []string) {
	for _, e := range all {
		if in(e) {
			titles = append(titles, e.Title)
		}
	}
	return titles
}

// Measured returns the engines that connections, query performance and wait events cover.
func Measured() []fleet.Engine {
	return namesOf(func(e *trait.Engine) bool { return e.Measured != nil })
}

// StatementsOf returns the rules by which samples of an engine's statements are shown: none
// for an engine that is not measured.
func StatementsOf(name fleet.Engine) trait.Statements {
	if e, err := Of(name); err == nil && e.Measured != nil {
		return e.Measured.Statements
	}
	return trait.Statements{}
}

// Normalize returns the text of an engine's statement as it may be kept (package sqltext);
// nothing of an engine without a dialect.
func Normalize(name fleet.Engine, text string) string {
	e, err := Of(name)
	if err != nil {
		return ""
	}
	return sqltext.Normalize(e.Dialect, text)
}

func namesOf(in func(*trait.Engine) bool) (names []fleet.Engine) {
	for _, e := range all {
		if in(e) {
			names = append(names, e.Name)
		}
	}
	return names
}
