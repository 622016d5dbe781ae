package analysis

import (
	"muster/internal/engine"
	"muster/internal/report/snapshot"
)

// Unsaved says whether the check of an instance's backups fails and is of another domain than the report, which then has
// no finding of it. Ransomware makes the backup a question of security.
func Unsaved(doc snapshot.Document, in *snapshot.Instance) bool {
	return backupOf(doc, in).State == CapApplies
}

// Backups counts the instances in scope by what their checks say of backups, for a report whose domain has no such check.
type Backups struct {
	Missing []string // names of instances whose check fails
	Recent  int      // instances whose check passes
	Unknown int      // instances without a check, or without its answer
	Told    bool     // the report has no finding on backups, so it has to say this
}

// BackupsOf are the backups of the instances in scope.
func BackupsOf(doc snapshot.Document) (b Backups) {
	b.Told = domainOf(doc) != ""
	for i := range doc.Instances {
		in := &doc.Instances[i]
		switch backupOf(doc, in).State {
		case CapApplies:
			b.Missing = append(b.Missing, in.Name)
		case CapNot:
			b.Recent++
		case CapUnknown:
			b.Unknown++
		}
	}
	return b
}

// backupOf is the cap for a missing backup where the check is outside of the report's domain.
func backupOf(doc snapshot.Document, in *snapshot.Instance) Cap {
	if id := engine.ChecksOf(in.Engine).Backup; id == "" || !outside(doc)[id] {
		return Cap{State: CapUnknown}
	}
	doc.Kind = "" // all domains
	return backupCap(doc, in)
}
