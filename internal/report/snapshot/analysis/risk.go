package analysis

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/internal/engine"
	"muster/internal/report/snapshot"
)

// manyRows is how many rows a table may have before their number raises its risk.
const manyRows = 100_000

// rowSteps are the numbers of rows above which the impact grows by half a point each.
var rowSteps = [...]int64{manyRows, 10_000_000, 100_000_000}

// TableRisk is one table with sensitive columns and the risk it carries.
type TableRisk struct {
	// ID is the same in every report of the organization: it is made from the place of the table.
	ID           string
	InstanceID   uuid.UUID
	InstanceName string
	Engine       string
	Owner        string // of the instance; empty: no team
	Database     string
	Table        snapshot.ClassifiedTable
	Encrypted    *bool // at rest, by the table or its database; nil: not known
	Likelihood   int   // 1-5
	Impact       int   // 1-5
	Score        int
	Drivers      []string // in words
	Controls     []string // what already holds against it
	// Treatments are proposals against the drivers, the one that removes most first.
	Treatments []string
	// Since says since when it is in the register; nil: not on record.
	Since *snapshot.RiskRecord
	// Decision is the exception that accepts it for a time; nil: nobody has accepted it.
	Decision *snapshot.Exception
	// Due is until when it has to be treated; nil: it is accepted, or low.
	Due *Deadline
	// Movement is its change since the previous report, which had the score Was.
	Movement Movement
	Was      int
	// Retention is how long the data of the instance is kept; empty: not said.
	Retention string
	// Readers are those of the table.
	Readers TableReaders
	// Partial: something that would raise the likelihood or the impact could not
	// be read, so the score may be too low.
	Partial bool
}

// Level is the band of the score, likelihood · impact of at most 25: High, Medium or Low.
func (t TableRisk) Level() string {
	switch {
	case t.Score >= 15:
		return High
	case t.Score >= 8:
		return Medium
	default:
		return Low
	}
}

// exposure is what an instance adds to the likelihood of all its tables.
type exposure struct {
	likelihood float64
	drivers    []string
	controls   []string
	treatments []string
	partial    bool
}

// PublicDriver is the driver of a table that every login can read.
const PublicDriver = "readable by every login (PUBLIC)"

// What is proposed against a driver.
const (
	treatPublic  = "take access from PUBLIC, grant it by role"
	treatSignIn  = "require encrypted sign-in and strong secrets"
	treatCVEs    = "upgrade the server, as its Security report says"
	treatAtRest  = "encrypt the database at rest"
	treatSpecial = "mask or pseudonymize the sensitive columns"
	treatRows    = "delete rows that are past their retention"
)

// Risks returns every classified table but Muster's own with its risk, score descending, then
// instance, database, schema and table name.
func Risks(doc snapshot.Document) []TableRisk { return risksOf(doc, false) }

// OwnTables are those that Risks leaves out: of Muster's own database, which holds the
// members of this installation.
func OwnTables(doc snapshot.Document) []TableRisk { return risksOf(doc, true) }

func risksOf(doc snapshot.Document, own bool) []TableRisk {
	out, known := []TableRisk{}, recordOf(doc)
	for i := range doc.Instances {
		in := &doc.Instances[i]
		about := exposureOf(doc, in)
		for _, db := range in.Databases {
			if db.Classification == nil || db.Classification.Own != own {
				continue
			}
			for _, table := range db.Classification.Tables {
				risk := tableRisk(table, about, cmp.Or(table.Encrypted, db.Encrypted))
				risk.ID = snapshot.RiskID(doc.Organization.ID, in.ID, db.Name, table)
				risk.treat(about)
				risk.InstanceID, risk.InstanceName, risk.Engine = in.ID, in.Name, in.Engine
				risk.Database, risk.Owner, risk.Retention = db.Name, OwnerOf(in), in.Retention
				risk.Readers = ReadersOf(in, table)
				known.note(doc, &risk)
				out = append(out, risk)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b TableRisk) int {
		return cmp.Or(
			cmp.Compare(b.Score, a.Score),
			strings.Compare(a.InstanceName, b.InstanceName),
			strings.Compare(a.Database, b.Database),
			strings.Compare(a.Table.Schema, b.Table.Schema),
			strings.Compare(a.Table.Name, b.Table.Name),
		)
	})
	return out
}

// Regulations are those that the columns of the table fall under, sorted.
func (t TableRisk) Regulations() []string {
	var all []string
	for _, c := range t.Table.Columns {
		if c.Regulation != "" {
			all = append(all, c.Regulation)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// tableRisk follows report-contents, "Risk score of a table".
func tableRisk(table snapshot.ClassifiedTable, about exposure, encrypted *bool) TableRisk {
	risk := TableRisk{Table: table, Partial: about.partial}
	likelihood := 1 + about.likelihood
	switch {
	case table.PublicAccess:
		likelihood += 2
		risk.Drivers = append(risk.Drivers, PublicDriver)
	case table.AccessUnknown:
		risk.Partial = true
	default:
		risk.Controls = append(risk.Controls, "no access for PUBLIC")
	}
	if table.RowSecurity {
		risk.Controls = append(risk.Controls, "row security on")
	}
	weight := 0
	for _, c := range table.Columns {
		weight = max(weight, c.Weight)
	}
	impact := float64(weight) / 2
	switch rows, known := table.Rows(); {
	case !table.MayExceed(manyRows):
	case known:
		over := int64(0)
		for _, step := range rowSteps {
			if rows > step {
				impact, over = impact+0.5, step
			}
		}
		risk.Drivers = append(risk.Drivers, "more than "+itoa(int(over))+" rows")
	default: // it may be 100,000 rows or more, and nobody has counted them
		risk.Partial = true
	}
	if special(table) {
		impact += 0.5
		risk.Drivers = append(risk.Drivers, "special category or credentials")
	}
	risk.Drivers = append(risk.Drivers, about.drivers...)
	risk.Controls = append(risk.Controls, about.controls...)
	risk.encrypted(encrypted)
	if encrypted != nil && !*encrypted {
		likelihood += 0.5
	}
	risk.Likelihood = scale(likelihood)
	risk.Impact = scale(impact)
	risk.Score = risk.Likelihood * risk.Impact
	return risk
}

// encrypted takes in whether a table is encrypted at rest.
func (t *TableRisk) encrypted(known *bool) {
	t.Encrypted = known
	if known != nil && *known {
		t.Controls = append(t.Controls, "encrypted at rest")
	}
	if known != nil && !*known {
		t.Drivers = append(t.Drivers, "not encrypted at rest")
	}
}

// treat proposes what answers the drivers, in the order of what that takes away.
func (t *TableRisk) treat(about exposure) {
	if t.Table.PublicAccess {
		t.Treatments = append(t.Treatments, treatPublic)
	}
	t.Treatments = append(t.Treatments, about.treatments...)
	if t.Encrypted != nil && !*t.Encrypted {
		t.Treatments = append(t.Treatments, treatAtRest)
	}
	if special(t.Table) {
		t.Treatments = append(t.Treatments, treatSpecial)
	}
	if _, known := t.Table.Rows(); known && t.Table.MayExceed(manyRows) {
		t.Treatments = append(t.Treatments, treatRows)
	}
}

// special says whether a table holds what the law or an attacker values most.
func special(table snapshot.ClassifiedTable) bool {
	return slices.ContainsFunc(table.Columns, func(c snapshot.ClassifiedColumn) bool {
		return c.Category == "Special category" || c.Category == "Credentials"
	})
}

// Encryption counts tables with sensitive columns by what is known of their files.
type Encryption struct{ Encrypted, Plain, Unknown int }

// EncryptionOf counts them.
func EncryptionOf(risks []TableRisk) (e Encryption) {
	for _, r := range risks {
		switch {
		case r.Encrypted == nil:
			e.Unknown++
		case *r.Encrypted:
			e.Encrypted++
		default:
			e.Plain++
		}
	}
	return e
}

// scale caps at 5 and rounds up; nothing is below 1.
func scale(x float64) int {
	return max(1, int(math.Ceil(min(x, 5))))
}

func exposureOf(doc snapshot.Document, in *snapshot.Instance) exposure {
	var e exposure
	version := versionExposure(doc, in)
	if !in.Active || in.Assessment == nil {
		version.partial = true
		return version
	}
	checks := engine.ChecksOf(in.Engine)
	e.weigh(in, checks.WeakSignIn, 1, "weak or unencrypted sign-in possible", "strong, encrypted sign-in required", treatSignIn)
	remote := checks.RemoteSuperuser
	e.weigh(in, remote.Checks, 0.5, remote.Driver, remote.Control, remote.Treatment)
	e.likelihood += version.likelihood
	e.drivers, e.treatments = append(e.drivers, version.drivers...), append(e.treatments, version.treatments...)
	e.partial = e.partial || version.partial
	return e
}

// versionExposure is what the version of an instance adds, whether its checks were run or not: the worst open CVE, or
// the end of support, after which nobody looks for CVEs any more, and half a point more where both are.
func versionExposure(doc snapshot.Document, in *snapshot.Instance) (e exposure) {
	cves := CVEs(doc, in)
	open, unknown := cves.Open.grave(), cves.Possible.grave()
	points := 0.0
	if open > 0 {
		points = 1
		if cves.Open[Rank(Critical)] > 0 {
			points = 1.5
		}
		e.drivers = append(e.drivers, Plural(open, "open CVE", "open CVEs")+" of CVSS 7.0 or more")
	}
	if known := exploited(doc, in); len(known) > 0 {
		points = 2
		e.drivers = append(e.drivers, some(known, 2)+" known to be exploited")
	}
	if _, over := Ended(doc, in); over {
		if points > 0 {
			points += 0.5
		}
		points = max(points, 1)
		e.drivers = append(e.drivers, "out of support")
	}
	if points > 0 {
		e.likelihood = points
		e.treatments = append(e.treatments, treatCVEs)
	} else if unknown > 0 || !CVEsWhole(in) {
		e.partial = true
	}
	return e
}

// weigh adds points where one of the checks fails, a control where all pass,
// and marks the rest as partly known.
func (e *exposure) weigh(in *snapshot.Instance, checks []string, points float64, driver, control, treatment string) {
	passed, failed := 0, false
	for _, r := range in.Assessment.Results {
		if !slices.Contains(checks, r.CheckID) {
			continue
		}
		switch r.Status {
		case snapshot.StatusFail:
			failed = true // also where it is accepted: the way in is still there
		case snapshot.StatusPass, snapshot.StatusNotApplicable:
			passed++
		}
	}
	switch {
	case failed:
		e.likelihood += points
		e.drivers = append(e.drivers, driver)
		e.treatments = append(e.treatments, treatment)
	case len(checks) > 0 && passed >= len(checks):
		e.controls = append(e.controls, control)
	default:
		e.partial = true
	}
}
