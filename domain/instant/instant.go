package instant

import "time"

// Cut returns t as PostgreSQL keeps it. The zero time stays zero.
func Cut(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
