package history

// PageByStatusQuery is the query of a page of some statuses.
func PageByStatusQuery() string { return withColumns(pageByStatusQuery) }
