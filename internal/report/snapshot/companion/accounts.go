package companion

import (
	"strconv"
	"strings"

	"muster/internal/report/snapshot/analysis"
)

// accountsHeader: the columns about an account, then those that join the tables.
var accountsHeader = []string{
	"instanceId", "instance", "account", "login", "superuser", "attributes", "memberOf", "passwordKind", "validUntil", "lastSeenAt", "dormant",
	"remoteLogin", "sent", "ownerId", "owner", "findingId", "step", "riskId",
}

// accountsRows has a row for each privileged account: the instances by name, the most powerful account first.
func accountsRows(s *Set) [][]string {
	doc, j := s.doc, s.joins()
	var rows [][]string
	for i := range doc.Instances {
		in := &doc.Instances[i]
		if in.Assessment == nil {
			continue
		}
		ownerID, owner := ownerOf(in)
		for _, r := range in.Assessment.Roles {
			rows = append(rows, []string{
				id(in.ID), Cell(in.Name), Cell(r.Name), strconv.FormatBool(r.Login), strconv.FormatBool(r.Superuser),
				Cell(strings.Join(r.Attributes, "; ")), Cell(strings.Join(r.MemberOf, "; ")), Cell(r.PasswordKind), at(r.ValidUntil), at(r.LastSeen),
				strconv.FormatBool(analysis.Dormant(doc, r)), Cell(r.RemoteLogin), strconv.FormatBool(in.Assessment.Sent), ownerID, owner,
				strings.Join(j.about(in, r.Name), "; "), j.steps(in, r.Name), "",
			})
		}
	}
	return rows
}
