package topic

import _ "embed" // the queries

var (
	//go:embed select_page.sql
	selectPage string
	//go:embed select_range.sql
	selectRange string
	//go:embed select_parked.sql
	selectParked string
	//go:embed select_exceptions.sql
	selectExceptions string
	//go:embed insert_letter.sql
	insertLetter string
)
