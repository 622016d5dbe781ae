package projections

import _ "embed" // the queries

var (
	//go:embed sql/select_tables.sql
	selectTables string
	//go:embed sql/select_difference.sql
	selectDifference string
	//go:embed sql/select_statuses.sql
	selectStatuses string
	//go:embed sql/select_handler.sql
	selectHandler string
	//go:embed sql/select_passed.sql
	selectPassed string
	//go:embed sql/held_locks.sql
	heldLocks string
	//go:embed sql/select_progress.sql
	selectProgress string
)
