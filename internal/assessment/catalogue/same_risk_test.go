package catalogue

import (
	"strings"
	"testing"
)

// TestTheEnginesRateTheSameRiskTheSame: the checks of a line are about one risk, and have one severity. An engine is
// missing from a line if no query can tell, or if it has no such thing.
func TestTheEnginesRateTheSameRiskTheSame(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for risk, line := range map[string]string{
		"sessions are not encrypted":                   "PG-S07 MS-14 OR-13",
		"sign-ins are not audited":                     "PG-S25 MS-15 OR-51",
		"changes of objects and rights leave no trace": "PG-S27 OR-52",
		"passwords are not held to rules":              "PG-S37 MS-12 OR-04",
		"passwords can be guessed without a bound":     "PG-S39 OR-02",
		"an account opens without a secret":            "PG-S01 MS-48 OR-01",
		"accounts may do everything":                   "PG-S13 MS-11 OR-06",
		"the operating system is in reach":             "PG-S15 MS-01 OR-05 OR-62",
		"everybody reads or changes tables":            "PG-S18 MS-70 OR-59",
		"files are not encrypted":                      "MS-13 OR-12",
		"sessions need not be encrypted":               "PG-S04 MS-74",
		"the keys of encrypted files have no copy":     "MS-72 OR-66",
		"pages have no checksums":                      "PG-F03 MS-18 OR-64",
		"logs and traces are open to others":           "PG-S43 OR-56",
		"administrators leave no trace":                "OR-19 OR-69",
		"a place for files is nearly full":             "OR-58 OR-60",
		"updates are missing":                          "PG-S31 MS-19 OR-14",
		"there is no recent backup":                    "MS-16 OR-15", // PostgreSQL records none
		"numbers run out":                              "PG-C06 MS-61 OR-67",
		"a transaction stays open":                     "PG-P01 MS-63",
		"constraints do not hold":                      "PG-C07 MS-58 OR-17",
		"statistics are stale":                         "PG-M03 MS-56 OR-18",
		"the server listens or registers too widely":   "PG-S32 OR-27",
	} {
		var severities []string
		for _, id := range strings.Fields(line) {
			check, ok := c.Check(id)
			if !ok {
				t.Errorf("%s: there is no check %s", risk, id)
			}
			severities = append(severities, check.Severity)
		}
		for _, s := range severities {
			if s != severities[0] {
				t.Errorf("%s: %s are %v", risk, line, severities)
				break
			}
		}
	}
}
