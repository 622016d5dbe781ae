package alerts

// Statement is what reads a part of the answer to q: its page or its total.
func Statement(part string, q Query) (query string, args []any) {
	if part == "total" {
		return q.total()
	}
	return q.page()
}

// Scoped and the texts of the counts and the history, for the test of their plans.
var (
	Scoped       = scoped
	CountsQuery  = countsQuery
	HistoryQuery = historyQuery
)
