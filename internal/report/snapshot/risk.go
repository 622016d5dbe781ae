package snapshot

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"

	"github.com/google/uuid"
)

// RiskID names a table's risk in the register. It is the same in every report of the organization, because it is made
// from the place of the table. It has 35 bits, so that of 10,000 tables two rarely share one.
func RiskID(organization, instance uuid.UUID, database string, t ClassifiedTable) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %q %q %q", organization, instance, database, t.Schema, t.Name))
	return "R-" + base32.StdEncoding.EncodeToString(sum[:])[:7]
}
