package feed

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"regexp"
	"time"

	"muster/domain/fleet"
)

//go:embed builds.csv
var buildsCSV []byte

// build is a published build of a major of another engine than PostgreSQL: of SQL Server
// all since 2016, of the others the latest.
type build struct {
	engine    fleet.Engine
	major     string
	branch    string // of SQL Server: GDR has security updates alone, CU all; they do not mix
	version   dotted
	name      string // "CU14"; empty: none
	published time.Time
}

// String is the version with its name.
func (b build) String() string {
	if of, _ := knownOf(b.engine); of.Update != nil && b.name != "" {
		return b.version.String() + " (" + b.name + ")"
	}
	return b.version.String()
}

func (f *Feed) readBuilds(text []byte) error {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	var faults []error
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		b := build{engine: fleet.Engine(row[0]), major: row[1], branch: row[2], name: row[4]}
		var ok bool
		if b.version, ok = parseDotted(row[3]); !ok || row[7] == "" || seen[row[0]+row[3]] {
			faults = append(faults, fmt.Errorf("build %s %s: no version, no source, or named twice", row[0], row[3]))
			continue
		}
		seen[row[0]+row[3]] = true
		if b.published, err = time.Parse(time.DateOnly, row[5]); err != nil {
			faults = append(faults, fmt.Errorf("build %s %s: %w", row[0], row[3], err))
			continue
		}
		f.builds = append(f.builds, b)
	}
	return errors.Join(faults...)
}

// latest is the latest known build of a major, on the branch of v; v may be nil, then it is the
// latest of all.
func (f *Feed) latest(l *lifecycle, v dotted) (latest build, ok bool) {
	branch, any := f.branchOf(l, v), v == nil
	for _, b := range f.builds {
		if b.engine == l.engine && b.major == l.name && (any || b.branch == branch) && (!ok || b.version.compare(latest.version) > 0) {
			latest, ok = b, true
		}
	}
	return latest, ok
}

// branchOf is the branch of a build of SQL Server: that of the last known build before it, or
// the first of all.
func (f *Feed) branchOf(l *lifecycle, v dotted) string {
	var before, first *build
	for i := range f.builds {
		b := &f.builds[i]
		if b.engine != l.engine || b.major != l.name {
			continue
		}
		if first == nil || b.version.compare(first.version) < 0 {
			first = b
		}
		if b.version.compare(v) <= 0 && (before == nil || b.version.compare(before.version) > 0) {
			before = b
		}
	}
	switch {
	case before != nil:
		return before.branch
	case first != nil:
		return first.branch
	default:
		return ""
	}
}

// behind counts the builds after v: those in the table if it has all, otherwise by number. 0 if
// that cannot be counted.
func (f *Feed) behind(l *lifecycle, v dotted, latest build) int {
	n := 0
	of, _ := knownOf(l.engine)
	switch last := len(latest.version) - 1; {
	case of.AllBuilds:
		for _, b := range f.builds {
			if b.engine == l.engine && b.major == l.name && b.branch == latest.branch && b.version.compare(v) > 0 {
				n++
			}
		}
	case len(v) > last && v[:last].compare(latest.version[:last]) == 0:
		n = max(0, latest.version[last]-v[last])
	}
	return n
}

var buildForm = regexp.MustCompile(`\d+(?:\.\d+){2,}`)

// buildOf reads which build a text names, as numbers or, as "2022 CU14", by a name in the table.
func (f *Feed) buildOf(engine fleet.Engine, l *lifecycle, text string) (dotted, bool) {
	of, _ := knownOf(engine)
	form := cmp.Or(of.Build, buildForm)
	for _, found := range form.FindAllString(text, -1) {
		v, ok := parseDotted(found)
		if !ok || v.compare(l.start) != 0 {
			continue
		}
		if of.NoBuild != nil && of.NoBuild(v) {
			continue
		}
		return v, true
	}
	if of.Update == nil {
		return nil, false
	}
	if m := of.Update.FindStringSubmatch(text); m != nil {
		for _, b := range f.builds {
			if b.engine == engine && b.major == l.name && b.name == of.UpdateName+m[1] {
				return b.version, true
			}
		}
	}
	return nil, false
}
