package feed

import (
	"regexp"
	"strconv"
)

// Version is a PostgreSQL release: 15.18 has major "15" and minor 18, 9.6.24
// has major "9.6" and minor 24.
type Version struct {
	Major string
	Minor int
}

var versionForm = regexp.MustCompile(`^(?:PostgreSQL )?(?:(9\.\d+)|([1-9]\d+))(?:\.(\d+))?(beta|rc|devel)?`)

// ParseVersion reads "15.18", "9.6.24", "15.18 (Debian …)" and version()'s own
// text. Betas and release candidates are no releases: ok is false.
func ParseVersion(text string) (v Version, ok bool) {
	parts := versionForm.FindStringSubmatch(text)
	if parts == nil || parts[4] != "" {
		return Version{}, false
	}
	v.Major = parts[1] + parts[2]
	if parts[3] != "" {
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

func (v Version) String() string { return v.Major + "." + strconv.Itoa(v.Minor) }
