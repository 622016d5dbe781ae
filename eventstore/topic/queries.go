package topic

import _ "embed" // the queries

var (
	//go:embed sql/select_page.sql
	selectPage string
	//go:embed sql/select_range.sql
	selectRange string
	//go:embed sql/select_parked.sql
	selectParked string
	//go:embed sql/select_exceptions.sql
	selectExceptions string
	//go:embed sql/insert_letter.sql
	insertLetter string
)
