package catalogue

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/report/snapshot"
)

// Version is raised with every change of a check's meaning; the digest tells
// apart what a version number alone would hide.
const Version = "2026.11.7"

// Scopes of a check.
const (
	ScopeInstance = "instance" // once a server
	ScopeDatabase = "database" // in every database that lets us in
)

// Check is one check as reports carry it, with everything needed to run it.
type Check struct {
	snapshot.Check `yaml:",inline"`
	MinVersion     int      `yaml:"min_version"` // as server_version_num
	Reads          []Read   `yaml:"reads"`
	Rights         []string `yaml:"rights"`       // the least that let an account read it, where Reads do not say so
	Object         Object   `yaml:"object"`       // how a feed names what fails
	Azure          string   `yaml:"azure"`        // why it does not apply to Azure SQL Database, in words
	Managed        string   `yaml:"managed"`      // likewise, to Azure SQL Managed Instance or Autonomous Database
	Inapplicable   string   `yaml:"inapplicable"` // a row says why the server has no part in it
	Query          string   `yaml:"query"`
	Graded         bool     `yaml:"graded"` // the query's third column is the row's severity
	Names          []string `yaml:"names"`  // of the query's further columns, for Statements
	RunIn          string   `yaml:"run_in"` // the one of Names that is the database to run them in
	Evaluate       string   `yaml:"evaluate"`
	Population     string   `yaml:"population"`
	Measure        string   `yaml:"measure"`
	Unreadable     string   `yaml:"unreadable"`
	Unknown        string   `yaml:"unknown"` // a row says what no grant would show
	// Statements do what Remediation says, the first that fits; none where that is
	// the owner's to choose. Grants do the same for what Unreadable lists.
	Statements []Template `yaml:"statements"`
	Undo       []Template `yaml:"undo"` // each takes back the statement at its place
	Grants     []Template `yaml:"grants"`
}

// Catalogue is the validated set of checks.
type Catalogue struct {
	checks []Check
	digest string
}

// Load reads and validates the embedded checks, once a process. The error names every
// fault.
var Load = sync.OnceValues(func() (*Catalogue, error) {
	checks, err := engine.Checks()
	if err != nil {
		return nil, fmt.Errorf("unpack the check catalogue: %w", err)
	}
	return load(checks)
})

func load(fsys fs.FS) (*Catalogue, error) {
	c := &Catalogue{}
	digest := sha256.New()
	for _, e := range engine.All() {
		if e.Checks == nil {
			continue
		}
		names, err := fs.Glob(fsys, string(e.Name)+"/checks/*.yaml")
		if err != nil {
			return nil, err
		}
		for _, name := range names { // Glob sorts, so the digest is stable
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return nil, fmt.Errorf("read the check catalogue: %w", err)
			}
			digest.Write(text)
			checks, err := checksOf(e, text)
			if err != nil {
				return nil, fmt.Errorf("check catalogue, %s: %w", name, err)
			}
			c.checks = append(c.checks, checks...)
		}
	}
	slices.SortFunc(c.checks, func(a, b Check) int { return strings.Compare(a.ID, b.ID) })
	c.digest = hex.EncodeToString(digest.Sum(nil))
	return c, c.validate()
}

func (c *Catalogue) validate() error {
	var faults []error
	for i, check := range c.checks {
		if i > 0 && c.checks[i-1].ID == check.ID {
			faults = append(faults, fmt.Errorf("check %s: defined twice", check.ID))
		}
		for _, fault := range check.faults() {
			faults = append(faults, fmt.Errorf("check %s: %s", check.ID, fault))
		}
	}
	if len(c.checks) == 0 {
		faults = append(faults, errors.New("no checks"))
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("check catalogue: %w", err)
	}
	return nil
}

func (c Check) faults() (faults []string) {
	fault := func(ok bool, what string) {
		if !ok {
			faults = append(faults, what)
		}
	}
	oneOf := func(value string, allowed ...string) bool { return slices.Contains(allowed, value) }
	e := engineOf(c)
	fault(e.ID.MatchString(c.ID), "the id has not the form "+e.Form)
	fault(oneOf(c.Domain, "Security", "Performance", "Configuration", "Schema", "Maintenance"), "unknown domain")
	fault(oneOf(c.Severity, "Critical", "High", "Medium", "Low"), "unknown severity")
	fault(oneOf(c.Scope, ScopeInstance, ScopeDatabase), "unknown scope")
	fault(oneOf(c.Effort, "S", "M", "L"), "unknown effort")
	fault(c.Title != "" && c.Rationale != "" && c.Pass != "" && c.Remediation != "", "title, rationale, pass and remediation are needed")
	fault(c.Passed != "" && c.Passed != c.Title, "a title for when it passes is needed")
	fault(len(c.References) > 0, "no reference")
	for i, text := range c.References {
		_, known := cited(text)
		fault(known, "the reference "+text+" is to no edition")
		fault(!slices.Contains(c.References[:i], text), "the reference "+text+" is there twice")
	}
	if e.Fed {
		faults = append(faults, c.fedFaults()...)
	} else {
		faults = append(faults, c.runFaults()...)
	}
	return append(faults, c.statementFaults()...)
}

// runFaults says what is wrong with how a check is run.
func (c Check) runFaults() (faults []string) {
	fault := func(ok bool, what string) {
		if !ok {
			faults = append(faults, what)
		}
	}
	fault(c.MinVersion >= 90000, "min_version is not a server_version_num")
	fault((c.Query == "") != (c.Evaluate == ""), "either query or evaluate is needed")
	fault(c.Evaluate == "" || c.Scope == ScopeInstance, "evaluate works on instances only")
	fault(c.Evaluate != "" || c.Population != "" || c.Measure != "" || c.readsSetting(), "nothing says what was measured where it passes")
	for _, query := range []string{c.Query, c.Population, c.Measure, c.Unreadable, c.Unknown} {
		fault(!strings.Contains(query, ";"), "a query is one statement without ;")
	}
	fault(c.Object.text == "" && len(c.Rights) == 0 && c.Azure+c.Managed == "" && c.Inapplicable == "", "object, rights, azure, managed and inapplicable are not PostgreSQL's")
	return faults
}

func (c Check) readsSetting() bool {
	return slices.ContainsFunc(c.Reads, func(r Read) bool { return r.Kind == ReadSetting || r.Setting() })
}

// Checks returns every check, sorted by id.
func (c *Catalogue) Checks() []Check { return slices.Clone(c.checks) }

// Check returns one check by id.
func (c *Catalogue) Check(id string) (Check, bool) {
	i, ok := slices.BinarySearchFunc(c.checks, id, func(check Check, id string) int { return strings.Compare(check.ID, id) })
	if !ok {
		return Check{}, false
	}
	return c.checks[i], true
}

// Has says whether there is a check of that id.
func (c *Catalogue) Has(id string) bool {
	_, ok := c.Check(id)
	return ok
}

// Identity says which catalogue this is, as reports print it.
func (c *Catalogue) Identity() snapshot.Catalogue {
	return snapshot.Catalogue{Version: Version, Digest: c.digest}
}

// Of returns the checks of one engine, sorted by id: those that can assess its instances.
func (c *Catalogue) Of(engine fleet.Engine) []Check {
	return slices.DeleteFunc(c.Checks(), func(check Check) bool { return check.Engine != string(engine) })
}

// Definitions returns the checks of those engines as reports carry them, sorted by id;
// of every engine where none is named.
func (c *Catalogue) Definitions(engines ...fleet.Engine) []snapshot.Check {
	out := make([]snapshot.Check, 0, len(c.checks))
	for _, check := range c.checks {
		if len(engines) > 0 && !slices.Contains(engines, fleet.Engine(check.Engine)) {
			continue
		}
		definition := check.Check
		definition.References, definition.Verify = nil, check.verification()
		for _, r := range check.Cited() {
			definition.References = append(definition.References, r.printed())
		}
		out = append(out, definition)
	}
	return out
}
