package sqlserver

import (
	"strconv"
	"strings"
)

// PermissionSets names the sets of permissions that a version of SQL Server has: 2016,
// 2022, azure or rds. A version is a year (2016 to 2025), the number that it has (13 to 17),
// "azure" or "rds" (Amazon's, whose master user may grant less); all sets but rds are those of
// none, and none are those of a version that is no such.
func PermissionSets(version string) []string {
	n, err := strconv.Atoi(strings.SplitN(version, ".", 2)[0])
	switch {
	case version == "":
		return []string{"2016", "2022", "azure"}
	case strings.EqualFold(version, "azure"):
		return []string{"azure"}
	case strings.EqualFold(version, "rds"):
		return []string{"rds"}
	case err != nil:
		return nil
	case n >= 13 && n <= 15, n >= 2016 && n < 2022:
		return []string{"2016"}
	case n >= 16 && n < 100, n >= 2022:
		return []string{"2022"}
	}
	return nil
}
