package command

import (
	"runtime/debug"
)

// version and commit are what main says of the program (Build). A plain go build takes the
// commit from the stamp of the Go tool, where there is one.
var (
	version = "dev"
	commit  = ""
)

// Build says which version and commit this program is of, before any command runs.
func Build(ofVersion, ofCommit string) { version, commit = ofVersion, ofCommit }

// Version is the version alone, without the commit.
func Version() string { return version }

// BuildVersion is the version with the commit.
func BuildVersion() string {
	if c := BuildCommit(); c != "" {
		return version + " (" + c[:min(12, len(c))] + ")"
	}
	return version
}

// BuildCommit is the commit that the program is of; empty if nobody knows.
func BuildCommit() string {
	if commit != "" {
		return commit
	}
	return BuildSetting("vcs.revision")
}

// BuildSetting reads what the toolchain recorded about this binary.
func BuildSetting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
