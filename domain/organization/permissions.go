package organization

import "slices"

// Scope is one permission, spelt as on the wire.
type Scope string

// The scopes. ScopeAdmin implies all others.
const (
	ScopeMetricsRead     Scope = "metrics:read"
	ScopeAlertsRead      Scope = "alerts:read"
	ScopeAlertsWrite     Scope = "alerts:write"
	ScopeReportsRead     Scope = "reports:read"
	ScopeReportsCreate   Scope = "reports:create"
	ScopeReportsDownload Scope = "reports:download"
	ScopeMembersRead     Scope = "members:read"
	ScopeMarksWrite      Scope = "marks:write"
	ScopeAuditRead       Scope = "audit:read"
	ScopeOpsRead         Scope = "ops:read"
	ScopeIngestWrite     Scope = "ingest:write"
	ScopeAdmin           Scope = "admin"
)

// Scopes returns every scope in the contract's order.
func Scopes() []Scope {
	return []Scope{
		ScopeMetricsRead, ScopeAlertsRead, ScopeAlertsWrite, ScopeReportsRead, ScopeReportsCreate,
		ScopeReportsDownload, ScopeMembersRead, ScopeMarksWrite, ScopeAuditRead, ScopeOpsRead, ScopeIngestWrite, ScopeAdmin,
	}
}

// Known reports whether s is one of Scopes.
func (s Scope) Known() bool { return slices.Contains(Scopes(), s) }

// Roles returns every role, the least first.
func Roles() []Role { return []Role{Team, Viewer, Member, Auditor, Admin} }

// Valid reports whether r is one of Roles.
func (r Role) Valid() bool { return slices.Contains(Roles(), r) }

// Scopes returns what the role may do, in the contract's order: the table of roles, contract
// §12. A viewer downloads only the reports that they received, and sees only names of members:
// see DownloadsAll and SeesAddresses. Team has the scopes of a member, limited by the rights in each team,
// and reads the audit list of its servers.
func (r Role) Scopes() []Scope {
	switch r {
	case Viewer:
		return []Scope{ScopeMetricsRead, ScopeAlertsRead, ScopeReportsRead, ScopeReportsDownload, ScopeMembersRead}
	case Member:
		return []Scope{
			ScopeMetricsRead, ScopeAlertsRead, ScopeAlertsWrite, ScopeReportsRead, ScopeReportsCreate,
			ScopeReportsDownload, ScopeMembersRead, ScopeMarksWrite,
		}
	case Team:
		return append(Member.Scopes(), ScopeAuditRead)
	case Auditor:
		return []Scope{
			ScopeMetricsRead, ScopeAlertsRead, ScopeReportsRead, ScopeReportsDownload, ScopeMembersRead,
			ScopeAuditRead, ScopeOpsRead,
		}
	case Admin:
		return Scopes()
	}
	return nil
}

// Allows reports whether the role holds a scope.
func (r Role) Allows(s Scope) bool { return slices.Contains(r.Scopes(), s) }

// DownloadsAll reports whether the role may download every report of the
// organization, and not only those it received.
func (r Role) DownloadsAll() bool { return r.Valid() && r != Viewer }

// SeesAddresses reports whether the role sees members' addresses.
func (r Role) SeesAddresses() bool { return r.Valid() && r != Viewer && r != Team }

// Within returns those scopes of wanted that a holder of held may use or pass
// on; admin among held admits all.
func Within(held, wanted []Scope) []Scope {
	var within []Scope
	for _, s := range Scopes() {
		if slices.Contains(wanted, s) && (slices.Contains(held, s) || slices.Contains(held, ScopeAdmin)) {
			within = append(within, s)
		}
	}
	return within
}
