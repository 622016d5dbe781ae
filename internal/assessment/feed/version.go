package feed

import (
	"regexp"
	"strconv"
	"strings"
)

// Version is a PostgreSQL release: 15.18 has major "15" and minor 18, 9.6.24
// has major "9.6" and minor 24.
type Version struct {
	Major string
	Minor int
	// MinorUnknown says that only the major was told. The first release of 15 writes 15.0, so
	// that 15 is all of them.
	MinorUnknown bool
}

var (
	// versionForm takes what distributions of PostgreSQL write before its version.
	versionForm = regexp.MustCompile(`^(?i:[a-z ()]*(?:postgres(?:ql)?|postgres advanced server|enterprisedb)[ ()]+)?[vV]?` +
		`(?:(9\.\d+)|([1-9]\d+))(?:\.(\d+))?(?:[ .-]?(?i:(alpha|beta|rc|devel)))?`)
	numberForm = regexp.MustCompile(`^[1-9]\d{4,5}$`)
)

// ParseVersion reads "15.18", "9.6.24", "15.18 (Debian …)", version()'s own text, "v15.18",
// the number 150018 and what Percona and EnterpriseDB write. Betas and release candidates
// are no releases: ok is false.
func ParseVersion(text string) (v Version, ok bool) {
	text = strings.TrimSpace(text)
	if numberForm.MatchString(text) {
		num, err := strconv.Atoi(text)
		return VersionOf(num), err == nil && num >= 90_000
	}
	parts := versionForm.FindStringSubmatch(text)
	if parts == nil || parts[4] != "" {
		return Version{}, false
	}
	v.Major = parts[1] + parts[2]
	if v.MinorUnknown = parts[3] == ""; !v.MinorUnknown {
		minor, err := strconv.Atoi(parts[3])
		if err != nil {
			return Version{}, false
		}
		v.Minor = minor
	}
	return v, true
}

// VersionOf reads server_version_num, 150018 for 15.18 and 90624 for 9.6.24.
func VersionOf(num int) Version {
	if num < 100000 {
		return Version{Major: strconv.Itoa(num/10000) + "." + strconv.Itoa(num/100%100), Minor: num % 100}
	}
	return Version{Major: strconv.Itoa(num / 10000), Minor: num % 10000}
}

func (v Version) String() string {
	if v.MinorUnknown {
		return v.Major
	}
	return v.Major + "." + strconv.Itoa(v.Minor)
}
