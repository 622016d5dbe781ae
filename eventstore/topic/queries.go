package topic

import (
	_ "embed" // the queries

	"muster/eventstore"
)

var (
	//go:embed sql/select_page.sql
	selectPageSQL string
	//go:embed sql/select_range.sql
	selectRangeSQL string
	//go:embed sql/select_ahead.sql
	selectAheadSQL string
	//go:embed sql/select_checkpoint.sql
	selectCheckpoint string
	//go:embed sql/select_parked.sql
	selectParkedSQL string
	//go:embed sql/select_exceptions.sql
	selectExceptions string
	//go:embed sql/select_letters.sql
	selectLetters string
	//go:embed sql/set_back.sql
	setBack string
	//go:embed sql/insert_letter.sql
	insertLetter string
)

var (
	selectPage   = eventstore.Record(selectPageSQL)
	selectRange  = eventstore.Record(selectRangeSQL)
	selectAhead  = eventstore.Record(selectAheadSQL)
	selectParked = eventstore.Record(selectParkedSQL)
)

// PageSize is how many events one message holds at most. Pages of 1,000 move
// 83,000 events/s where a message an event moves 5,000 to 18,000 (measured).
const PageSize = 1000
