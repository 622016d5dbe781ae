//go:build !windows

package cli

// asService is for Windows, whose service manager has to be answered.
func asService() (status int, is bool) { return 0, false }
