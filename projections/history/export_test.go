package history

// PageByStatusQuery is the query of a page of some statuses.
func PageByStatusQuery() string { return withColumns(pageByStatusQuery) }

// NamingQuery is the query of the reports that name instances.
func NamingQuery() string { return withColumns(namingQuery) }
