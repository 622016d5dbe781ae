package e2e

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// kindOfData is what the contract says of a feed's word for a column.
type kindOfData struct {
	category, regulation string
	weight               int
}

var kindsOfData = map[string]kindOfData{
	"password": {"Credentials", "internal", 10}, "paymentCard": {"Financial", "PCI DSS", 10}, "iban": {"Financial", "GDPR", 8}, "nationalId": {"National ID", "GDPR art.87", 9},
	"email": {"Contact", "GDPR", 5}, "phone": {"Contact", "GDPR", 5}, "name": {"Person", "GDPR", 4}, "dateOfBirth": {"Person", "GDPR", 6}, "health": {"Special category", "GDPR art.9; HIPAA", 10},
	"ipAddress": {"Online", "GDPR rec.30", 3}, "geoCoordinates": {"Location", "GDPR", 4}, "salary": {"Employment", "GDPR", 6},
}

// checksOfSignIn say whether a weak sign-in, and one of a superuser from afar, is possible.
var checksOfSignIn = map[string][2][]string{
	"postgresql": {{"PG-S01", "PG-S02", "PG-S04"}, {"PG-S05"}}, "sqlserver": {{"MS-12", "MS-14"}, {"MS-02"}}, "oracle": {{"OR-01", "OR-10", "OR-13"}, nil},
}

// drawnRisk is the risk of a table, by the rule that the register prints.
type drawnRisk struct {
	*drawnTable
	likelihood, impact int
	partial            bool
}

func (r drawnRisk) score() int { return r.likelihood * r.impact }

func (r drawnRisk) level() string {
	switch {
	case r.score() >= 15:
		return "High"
	case r.score() >= 8:
		return "Medium"
	}
	return "Low"
}

func (t *drawnTable) server() *drawnServer { return t.database.server }

// place is where a table is.
func (t *drawnTable) place() string { return t.server().name + " / " + t.database.name }

// categories are those of a table with its columns, the heaviest first.
func (t *drawnTable) categories() (names []string, columns map[string][]string) {
	weights := map[string]int{}
	columns = map[string][]string{}
	for _, c := range t.columns {
		k := kindsOfData[c.word]
		weights[k.category] = max(weights[k.category], k.weight)
		columns[k.category] = append(columns[k.category], c.name+" C")
	}
	names = sortedKeys(weights)
	slices.SortStableFunc(names, func(a, b string) int { return weights[b] - weights[a] })
	return names, columns
}

// riskOf computes the risk of a table.
func (p *paper) riskOf(t *drawnTable) drawnRisk {
	s, r := t.server(), drawnRisk{drawnTable: t}
	likelihood, weight := 1.0, 0
	if slices.Contains(t.readers, "PUBLIC") {
		likelihood += 2
	}
	for i, points := range []float64{1, 0.5} {
		checks := checksOfSignIn[s.engine][i]
		fails := slices.ContainsFunc(s.findings, func(f *drawnFinding) bool { return slices.Contains(checks, f.check.ID) && f.to == len(p.looks) })
		switch {
		case fails: // also where it is accepted
			likelihood += points
		case len(checks) == 0, slices.ContainsFunc(checks, func(id string) bool { return slices.Contains(s.blind, id) }):
			r.partial = true
		}
	}
	version := p.versionPoints(s)
	likelihood += version
	if version == 0 && s.engine != "postgresql" {
		r.partial = true
	}
	if version == 0 && len(those(p.allCVEs, func(row map[string]string) bool {
		return row["instance"] == s.name && row["applies"] == "notRuledOut" && severityRank(row["severity"]) < 2
	})) > 0 {
		r.partial = true
	}
	if e := t.database.encrypted; e != nil && !*e {
		likelihood += 0.5
	}
	special := false
	for _, c := range t.columns {
		k := kindsOfData[c.word]
		weight = max(weight, k.weight)
		special = special || k.category == "Special category" || k.category == "Credentials"
	}
	impact := float64(weight) / 2
	for _, step := range []int64{100_000, 10_000_000, 100_000_000} {
		if t.rows > step {
			impact += 0.5
		}
	}
	if special {
		impact += 0.5
	}
	r.likelihood, r.impact = min(5, int(math.Ceil(likelihood))), min(5, int(math.Ceil(impact)))
	return r
}

// versionPoints are what the version of a server adds to the likelihood.
func (p *paper) versionPoints(s *drawnServer) (points float64) {
	for _, row := range p.allCVEs { // cves.csv of the Security report
		if row["instance"] != s.name || row["applies"] == "notExploitable" {
			continue
		}
		open := row["applies"] == "open"
		switch {
		case row["exploitedSince"] != "":
			points = max(points, 2)
		case open && row["severity"] == "Critical":
			points = max(points, 1.5)
		case open && row["severity"] == "High":
			points = max(points, 1)
		}
	}
	if !p.releaseOf(s).end.After(p.asOf) {
		if points > 0 {
			points += 0.5
		}
		points = max(points, 1)
	}
	return points
}

// risks are those of all tables, the highest first.
func (p *paper) risks() (all []drawnRisk) {
	for _, s := range p.servers {
		for _, db := range s.databases {
			for _, t := range db.tables {
				all = append(all, p.riskOf(t))
			}
		}
	}
	slices.SortFunc(all, func(a, b drawnRisk) int {
		return cmp.Or(b.score()-a.score(), strings.Compare(a.server().name, b.server().name), strings.Compare(a.database.name, b.database.name), strings.Compare(a.name, b.name))
	})
	return all
}

// inventory takes a Data Inventory back.
func (p *paper) inventory() {
	all := p.risks()
	p.dataFront(all)
	p.dataSummary(all)
	p.sensitive(all)
	p.atRest(all)
	p.register(all)
	p.inventoryTable(all)
}

func dagger(is bool) string {
	if is {
		return "†"
	}
	return ""
}

// dataFront are the figures of page 1.
func (p *paper) dataFront(all []drawnRisk) {
	databases, classified, with := 0, 0, map[*drawnDatabase]bool{}
	var plain, encrypted, unknown, columns int
	for _, s := range p.servers {
		databases += len(s.databases)
		if !s.inactive && !s.silent {
			classified += len(s.databases)
		}
	}
	for _, r := range all {
		with[r.database] = true
		columns += len(r.columns)
		switch e := r.database.encrypted; {
		case e == nil:
			unknown++
		case *e:
			encrypted++
		default:
			plain++
		}
	}
	high := len(those(all, func(r drawnRisk) bool { return r.level() == "High" }))
	p.says("page 1: tables", "1", "%s %d† in %s", map[bool]string{true: "TABLE WITH PII", false: "TABLES WITH PII"}[len(all) == 1], len(all), count(len(with), "database", "databases"))
	p.says("page 1: tables", "1", "%s %d† risk score 15 or more", map[bool]string{true: "HIGH-RISK TABLE", false: "HIGH-RISK TABLES"}[high == 1], high)
	p.says("page 1: databases", "1", "DATABASES CLASSIFIED %d / %d %d not looked at", classified, databases, databases-classified)
	if plain+encrypted > 0 {
		note := count(encrypted, "table is", "tables are") + " encrypted"
		if unknown > 0 {
			note = fmt.Sprintf("%d encrypted, %d not known", encrypted, unknown)
		}
		p.says("page 1: encryption", "1", "NOT ENCRYPTED AT REST %d† %s", plain, note)
		p.says("summary: encryption", "Summary", "%d of %s ‹ known not to be encrypted at rest, %d", plain, count(len(all), "sensitive table", "sensitive tables"), encrypted)
	} else {
		p.says("page 1: encryption", "1", "NOT ENCRYPTED AT REST – not known for any table")
	}
	p.says("summary: coverage", "Summary", "%s at least one sensitive column; ‹. Classification coverage: 100%% of %s and 100%% of %s, in %d of %d databases; %d not looked at.",
		count(len(all), "table has", "tables have"), count(len(all), "table", "tables"), count(columns, "column", "columns"), classified, databases, databases-classified)
	p.says("coverage", "Coverage and methodology", "%d databases are in scope: %d classified completely, %d never classified.", databases, classified, databases-classified)
	p.says("coverage", "Coverage and methodology", "Rules %d databases classified by another tool with its own rules.", classified)
	for i, r := range all[:min(5, len(all))] {
		p.says("tables to treat first", "1", "%d %s.%s %s %d%s %s %d × %d", i+1, r.schema, r.name, r.place(), r.score(), dagger(r.partial), r.level(), r.likelihood, r.impact)
	}
}

// dataSummary is the picture of categories by server.
func (p *paper) dataSummary(all []drawnRisk) {
	weights := map[string]int{}
	for _, r := range all {
		for _, c := range r.columns {
			k := kindsOfData[c.word]
			weights[k.category] = max(weights[k.category], k.weight)
		}
	}
	order := sortedKeys(weights)
	slices.SortStableFunc(order, func(a, b string) int { return weights[b] - weights[a] })
	for name, of := range different(all, func(r drawnRisk) string { return r.server().name }) {
		n := map[string]int{}
		for _, r := range of { // under its most sensitive column
			names, _ := r.categories()
			n[names[0]]++
		}
		words := name
		for _, category := range order {
			if n[category] > 0 {
				words += fmt.Sprintf(" %d", n[category])
			}
		}
		p.says("summary: categories", "Summary", "%s %d", words, len(of))
	}
	last := time.Time{}
	for _, s := range p.servers {
		if at := p.at(s, len(p.looks)-1); at.After(last) {
			last = at
		}
	}
	p.says("summary: coverage", "Summary", "classified completely, last at %s.", minute(last))
}

// readersWords count who can read a table: the superusers of a server can read all of them.
func (r drawnRisk) readersWords() string {
	n := 0
	for _, name := range r.readers {
		if name == "PUBLIC" {
			return "PUBLIC"
		}
		n++
	}
	for _, a := range r.server().accounts {
		if a.superuser {
			n++
		}
	}
	return count(n, "role", "roles")
}

// sensitive is the table of tables.
func (p *paper) sensitive(all []drawnRisk) {
	for _, r := range all {
		names, columns := r.categories()
		var words []string
		for _, name := range names {
			words = append(words, name+": "+strings.Join(columns[name], ", "))
		}
		rest := "not visible"
		switch e := r.database.encrypted; {
		case e != nil && *e:
			rest = "at rest"
		case e != nil:
			rest = "none"
		case r.server().engine != "postgresql":
			rest = "not assessed"
		}
		p.says("sensitive tables", "Sensitive tables by category", "%d%s %s %s.%s %s %s %s %s %s", r.score(), dagger(r.partial), r.level(), r.schema, r.name, r.place(), grouped(r.rows), strings.Join(words, ". "), r.readersWords(), rest)
	}
}

// atRest are the databases and tables that are not encrypted.
func (p *paper) atRest(all []drawnRisk) {
	const section = "Encryption coverage"
	encrypted := 0
	for _, s := range p.servers {
		for _, db := range s.databases {
			switch {
			case s.inactive || s.silent || db.encrypted == nil:
			case *db.encrypted:
				encrypted++
			default:
				p.says("encryption: databases", section, "%s ‹ %s not encrypted %d %s", s.name, db.name, len(db.tables), minute(p.at(s, len(p.looks)-1)))
			}
		}
	}
	if encrypted > 0 {
		p.says("encryption: databases", section, "%s encrypted at rest.", count(encrypted, "database is", "databases are"))
	}
	plain := those(all, func(r drawnRisk) bool { return r.database.encrypted != nil && !*r.database.encrypted })
	for _, r := range plain[:min(10, len(plain))] {
		names, _ := r.categories()
		p.says("encryption: tables", section, "%d%s %s %s %s %s.%s %s %s", r.score(), dagger(r.partial), r.level(), r.server().name, r.database.name, r.schema, r.name, grouped(r.rows), strings.Join(names, ", "))
	}
}

// register are the rows of the risk register, with the ids of inventory.csv.
func (p *paper) register(all []drawnRisk) {
	const section = "Risk register"
	var high, undecided, late, longest int
	owned := slices.ContainsFunc(all, func(r drawnRisk) bool { return r.server().owner != "" })
	for i, r := range all {
		seen := p.at(r.server(), r.from)
		due, words := seen.Add(time.Duration(p.dueDays[r.level()])*day24), "–"
		switch n := lateBy(due, p.asOf); {
		case r.level() == "Low" || r.accepted:
		case n > 0:
			late, longest, words = late+1, max(longest, n), count(n, "day", "days")+" overdue"
		default:
			words = "due " + day(due)
		}
		if r.level() == "High" {
			high++
			if !r.accepted {
				undecided++
			}
		}
		if i >= 20 {
			continue
		}
		regulations := map[string]bool{}
		for _, c := range r.columns {
			regulations[kindsOfData[c.word].regulation] = true
		}
		decision := "Undecided Proposal: « " + words
		if r.accepted {
			decision = "Accepted until " + day(p.now.AddDate(0, 0, p.acceptedFor).Add(-7*time.Hour)) + " by ana, " + day(p.asOf) + ": the table goes"
		}
		owner, keeps := cmp.Or(r.server().owner, "no owner"), "no retention"
		if !owned {
			owner = "–"
		}
		if r.server().keeps != "" {
			keeps = "keeps " + r.server().keeps
		}
		p.says("register", section, "%s %s %s.%s %s %s « %d%s %s %d × %d %s %s %s", p.riskID(r.drawnTable), day(seen), r.schema, r.name, r.place(), strings.Join(sortedKeys(regulations), ", "), r.score(), dagger(r.partial), r.level(), r.likelihood, r.impact, decision, owner, keeps)
	}
	words := "No table carries a high risk."
	switch {
	case high > 0 && undecided == 0:
		words = count(high, "table carries", "tables carry") + " a high risk, and people have decided on ‹."
	case high > 0:
		words = fmt.Sprintf("%s a high risk; nobody has decided on %d of them.", count(high, "table carries", "tables carry"), undecided)
	}
	if late > 0 {
		words += fmt.Sprintf(" %s overdue, by up to %s.", count(late, "treatment is", "treatments are"), count(longest, "day", "days"))
	}
	p.says("register: totals", section, "%s", words)
}

// riskID is the id of a table in the table of risks of the database.
func (d *drawn) riskID(t *drawnTable) (id string) {
	d.Helper()
	if err := d.db.Get(&id, `SELECT id FROM data_risks WHERE instance_id = $1 AND database_name = $2 AND table_name = $3 AND gone_at IS NULL`, t.server().id, t.database.name, t.name); err != nil {
		d.Fatal(err)
	}
	return id
}

// inventoryTable takes each row of inventory.csv back.
func (p *paper) inventoryTable(all []drawnRisk) {
	n := 0
	for _, r := range all {
		for _, c := range r.columns {
			n++
			k := kindsOfData[c.word]
			rows := those(p.tables["inventory.csv"], func(row map[string]string) bool {
				return row["instance"] == r.server().name && row["database"] == r.database.name && row["table"] == r.name && row["column"] == c.name
			})
			if len(rows) != 1 {
				p.Errorf("inventory.csv has %d rows of %s of %s", len(rows), c.name, r.place())
				continue
			}
			row := rows[0]
			p.agrees("inventory.csv", strings.Join([]string{row["category"], row["regulation"], row["weight"], row["rows"], row["risk"], row["riskLevel"], row["riskIncomplete"], row["riskFirstSeenAt"], row["owner"]}, "|"),
				strings.Join([]string{k.category, k.regulation, fmt.Sprint(k.weight), fmt.Sprint(r.rows), fmt.Sprint(r.score()), r.level(), fmt.Sprint(r.partial), p.at(r.server(), r.from).Format(time.RFC3339), r.server().owner}, "|"))
		}
	}
	p.agrees("inventory.csv", len(p.tables["inventory.csv"]), n)
}
