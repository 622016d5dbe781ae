package analysis

import (
	"time"

	"muster/internal/report/snapshot"
)

// DormantAfter is how long nobody has to sign in with a privileged account before it counts as dormant.
const DormantAfter = 90 * 24 * time.Hour

// Dormant says whether an account can sign in and was last seen too long ago. An account that was never seen says
// nothing: Muster's own assessments see only the sessions of their moment.
func Dormant(doc snapshot.Document, r snapshot.DatabaseRole) bool {
	return r.Login && r.LastSeen != nil && doc.AsOf.Sub(*r.LastSeen) > DormantAfter
}
