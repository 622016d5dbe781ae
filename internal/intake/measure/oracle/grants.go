package oracle

import (
	_ "embed" // the script
)

//go:embed grants.sql
var grants string

// Grants is the script that gives an account what measuring needs, and no more. It holds
// for all versions, and says which part is for whom.
func Grants() string { return grants }
