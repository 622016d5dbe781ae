package companion

import (
	"slices"
	"strconv"
	"strings"

	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// inventoryHeader: the columns about a column, then about its table, then about the run that
// found it.
var inventoryHeader = []string{
	"instanceId", "instance", "databaseId", "database", "schema", "table", "column", "dataType",
	"category", "infoType", "regulation", "confidence", "matchedPercent", "ruleId", "weight",
	"rows", "tableBytes", "encryptedAtRest", "publicAccess", "grantees", "readers", "readerPaths", "rowSecurity", "risk", "riskLevel", "riskIncomplete", "riskDrivers",
	"classification", "mode", "rulesVersion", "classifiedAt", "own", "ownerId", "owner", "riskId", "findingId", "step",
	"riskFirstSeenAt", "riskEverFirstSeenAt", "riskChange", "riskDue", "riskOverdueDays", "decision", "decidedBy", "decidedAt", "decisionUntil", "decisionReason", "retention", "riskControls",
}

// inventoryRows are the columns in the order of instances, databases, tables and columns.
func inventoryRows(s *Set) [][]string {
	doc := s.doc
	type key struct{ instance, database, schema, table string }
	risks := map[key]analysis.TableRisk{}
	for _, r := range slices.Concat(analysis.Risks(doc), analysis.OwnTables(doc)) {
		risks[key{r.InstanceID.String(), r.Database, r.Table.Schema, r.Table.Name}] = r
	}
	j := s.joins()
	var rows [][]string
	for _, in := range doc.Instances {
		ownerID, owner := ownerOf(&in)
		for _, db := range in.Databases {
			run := db.Classification
			if run == nil {
				continue
			}
			for _, t := range run.Tables {
				counted := ""
				if n, known := t.Rows(); known {
					counted = whole(n)
				}
				public, grantees := strconv.FormatBool(t.PublicAccess), whole(t.Grantees)
				if t.AccessUnknown {
					public, grantees = "", ""
				}
				paths := readerPaths(analysis.ReadersOf(&in, t))
				risk := risks[key{in.ID.String(), db.Name, t.Schema, t.Name}]
				recorded := riskRecord(doc, risk)
				for _, c := range t.Columns {
					matched := ""
					if c.MatchedRatio != nil {
						matched = strconv.FormatFloat(*c.MatchedRatio*100, 'f', 1, 64)
					}
					rows = append(rows, slices.Concat([]string{
						id(in.ID), Cell(in.Name), id(db.ID), Cell(db.Name), Cell(t.Schema), Cell(t.Name), Cell(c.Name), Cell(c.DataType),
						Cell(c.Category), Cell(c.InfoType), Cell(c.Regulation), Cell(c.Confidence), matched, Cell(c.RuleID), whole(c.Weight),
						counted, whole(t.SizeBytes), encrypted(db, t), public, grantees, Cell(strings.Join(t.Readers, "; ")), Cell(paths), strconv.FormatBool(t.RowSecurity),
						whole(risk.Score), risk.Level(), strconv.FormatBool(risk.Partial), Cell(strings.Join(risk.Drivers, "; ")),
						Cell(run.Status), Cell(run.Mode), Cell(run.RulesVersion), at(&run.FinishedAt), strconv.FormatBool(run.Own),
						ownerID, owner, risk.ID, strings.Join(j.about(&in, tableName(t)), "; "), j.steps(&in, tableName(t)),
					}, recorded))
				}
			}
		}
	}
	return rows
}

// riskRecord is what is on record of a risk: its history, what people decided, and how long the data is kept.
func riskRecord(doc snapshot.Document, r analysis.TableRisk) []string {
	row := make([]string, 12)
	if r.Since != nil {
		row[0], row[1] = at(&r.Since.FirstSeenAt), at(r.Since.EverFirstSeenAt)
	}
	row[2] = string(r.Movement)
	if r.Due != nil {
		row[3], row[4] = at(&r.Due.At), whole(r.Due.Overdue(doc.AsOf))
	}
	row[5] = "undecided"
	if x := r.Decision; x != nil {
		row[5], row[6], row[7], row[8], row[9] = "accepted", Cell(x.GrantedBy.Shown()), at(&x.GrantedAt), at(&x.Until), Cell(x.Reason)
	}
	row[10], row[11] = Cell(r.Retention), Cell(strings.Join(r.Controls, "; "))
	return row
}

// encrypted says whether a table's rows are encrypted at rest; empty: not known.
func encrypted(db snapshot.Database, t snapshot.ClassifiedTable) string {
	for _, known := range []*bool{t.Encrypted, db.Encrypted} {
		if known != nil {
			return strconv.FormatBool(*known)
		}
	}
	return ""
}

// readerPaths are the ways by which roles read a table; empty: not known.
func readerPaths(r analysis.TableReaders) string {
	var paths []string
	for _, reader := range r.Readers {
		path := reader.Path
		if len(reader.Columns) > 0 {
			path += " (" + strings.Join(reader.Columns, ", ") + ")"
		}
		paths = append(paths, path)
	}
	switch {
	case r.Unlisted > 0 && len(paths) == 0:
		return whole(r.Unlisted) + " roles"
	case r.Unlisted > 0:
		paths = append(paths, "and "+whole(r.Unlisted)+" more")
	}
	return strings.Join(paths, "; ")
}
