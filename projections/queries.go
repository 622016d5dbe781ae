package projections

import _ "embed" // the queries

var (
	//go:embed select_tables.sql
	selectTables string
	//go:embed select_difference.sql
	selectDifference string
	//go:embed select_statuses.sql
	selectStatuses string
	//go:embed select_passed.sql
	selectPassed string
)
