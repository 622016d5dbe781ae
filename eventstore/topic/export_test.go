package topic

// PageQuery is what a subscription asks for its next page with.
func PageQuery() string { return selectPage }
