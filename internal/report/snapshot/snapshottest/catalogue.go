package snapshottest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"muster/internal/report/snapshot"
)

//go:embed catalogue.json
var catalogueJSON []byte

// known is a slice of the catalogue wide enough for every domain, scope and severity,
// and of the feed.
var known = sync.OnceValue(func() (of struct {
	Checks          []snapshot.Check
	Vulnerabilities []snapshot.Vulnerability
}) {
	if err := json.Unmarshal(catalogueJSON, &of); err != nil {
		panic(fmt.Errorf("catalogue.json: %w", err))
	}
	return of
})

func checks() []snapshot.Check { return slices.Clone(known().Checks) }

func vulnerabilities() []snapshot.Vulnerability { return slices.Clone(known().Vulnerabilities) }

// fix is the statement of one finding, as an assessment would have built it.
func fix(check, database, object string) *snapshot.Fix {
	switch check {
	case "PG-S17":
		return &snapshot.Fix{Database: database, Statement: "REVOKE CREATE ON SCHEMA public FROM PUBLIC;"}
	case "PG-S25":
		return &snapshot.Fix{Statement: "ALTER SYSTEM SET log_connections = on;\nSELECT pg_reload_conf();"}
	case "PG-M02":
		return &snapshot.Fix{Database: database, Statement: "VACUUM (ANALYZE) " + object + ";"}
	default:
		return nil
	}
}
