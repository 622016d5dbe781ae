package backup

// Expected says whether a manifest may list a file of this name.
func Expected(name string) bool { return expected(name) }
