package statement

import (
	"encoding/json"
	"fmt"
)

// ScanJSON is the Scan of a column that a query returns as JSON, as it does arrays: that
// database/sql knows none. The error of null is that it is no JSON.
func ScanJSON(src, into any) error {
	switch src := src.(type) {
	case []byte:
		return json.Unmarshal(src, into)
	case string:
		return json.Unmarshal([]byte(src), into)
	}
	return fmt.Errorf("%T is no JSON", src)
}
