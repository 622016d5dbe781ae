package snapshot

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"muster/domain/instant"
)

// Normalize returns a copy in canonical form that shares no memory with doc:
// times in UTC cut to microseconds, text valid UTF-8, no nil slices, every
// slice in the order that its comment promises. It is idempotent.
func Normalize(doc Document) Document {
	own(reflect.ValueOf(&doc).Elem())
	sortDocument(&doc)
	return doc
}

var timeType = reflect.TypeFor[time.Time]()

// own puts a value into canonical form in place and has what it refers to copied first.
// Walking by reflection means that a field added later cannot be forgotten here; doing it
// in place spares a copy of every field on its own, which took five times as long.
func own(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			v.SetString(visible(v.String()))
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(v.Elem())
		own(out.Elem())
		v.Set(out)
	case reflect.Slice:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(out, v)
		for i := range out.Len() {
			own(out.Index(i))
		}
		v.Set(out)
	case reflect.Struct:
		if v.Type() == timeType {
			t := v.Addr().Interface().(*time.Time)
			*t = instant.Cut(*t)
			return
		}
		for i := range v.NumField() {
			own(v.Field(i))
		}
	}
}

// visible replaces every byte that is not part of valid UTF-8 by its name, so
// that two broken strings which differ stay different.
func visible(s string) string {
	var out strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&out, "‹0x%02X›", s[0])
		} else {
			out.WriteString(s[:size])
		}
		s = s[size:]
	}
	return out.String()
}

func sortDocument(doc *Document) {
	slices.SortStableFunc(doc.Checks, func(a, b Check) int { return strings.Compare(a.ID, b.ID) })
	slices.SortStableFunc(doc.Vulnerabilities, func(a, b Vulnerability) int { return strings.Compare(a.ID, b.ID) })
	slices.SortStableFunc(doc.Instances, func(a, b Instance) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for i := range doc.Instances {
		sortInstance(&doc.Instances[i])
	}
	slices.SortStableFunc(doc.Exceptions, func(a, b Exception) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	if doc.Alerts != nil {
		slices.SortStableFunc(doc.Alerts.Listed, Alert.Compare)
	}
	sortAlertRecords(doc.AlertRecords)
	sortServiceRecords(doc.ServiceRecords)
	if t := doc.Tuning; t != nil {
		slices.SortStableFunc(t.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
		slices.SortStableFunc(t.Machines, func(a, b Machine) int { return strings.Compare(a.Host, b.Host) })
	}
	if doc.History != nil {
		slices.SortStableFunc(doc.History.Past, func(a, b PastFindings) int { return a.At.Compare(b.At) })
	}
	slices.SortStableFunc(doc.Risks, func(a, b RiskRecord) int { return strings.Compare(a.ID, b.ID) })
	if doc.Previous != nil {
		slices.SortStableFunc(doc.Previous.Risks, func(a, b RiskScore) int { return strings.Compare(a.ID, b.ID) })
		slices.SortStableFunc(doc.Previous.Findings, FindingKey.Compare)
		slices.SortStableFunc(doc.Previous.Accepted, FindingKey.Compare)
	}
}

func sortInstance(in *Instance) {
	slices.SortStableFunc(in.CVEs, func(a, b InstanceCVE) int { return strings.Compare(a.ID, b.ID) })
	slices.SortStableFunc(in.Databases, func(a, b Database) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for i := range in.Databases {
		if c := in.Databases[i].Classification; c != nil {
			sortClassification(c)
		}
	}
	if in.Assessment != nil {
		sortAssessment(in.Assessment)
	}
}

func sortAssessment(a *Assessment) {
	slices.SortStableFunc(a.Results, func(x, y CheckResult) int {
		return cmp.Or(strings.Compare(x.CheckID, y.CheckID), strings.Compare(x.Database, y.Database))
	})
	for i := range a.Results {
		slices.SortStableFunc(a.Results[i].Violations, func(x, y Violation) int {
			return cmp.Or(strings.Compare(x.Object, y.Object), strings.Compare(x.Evidence, y.Evidence))
		})
	}
	for i := range a.Roles {
		slices.Sort(a.Roles[i].Attributes)
		slices.Sort(a.Roles[i].MemberOf)
	}
	slices.SortStableFunc(a.Roles, func(x, y DatabaseRole) int {
		return cmp.Or(cmp.Compare(y.Power(), x.Power()), cmp.Compare(y.Remote(), x.Remote()), strings.Compare(x.Name, y.Name))
	})
	slices.SortStableFunc(a.Extensions, func(x, y Extension) int {
		return cmp.Or(strings.Compare(x.Database, y.Database), strings.Compare(x.Name, y.Name), strings.Compare(x.Version, y.Version))
	})
	for i := range a.MissingGrants {
		slices.Sort(a.MissingGrants[i].Checks)
	}
	slices.SortStableFunc(a.MissingGrants, func(x, y MissingGrant) int {
		return cmp.Or(strings.Compare(x.Object, y.Object), strings.Compare(x.Statement, y.Statement), slices.Compare(x.Checks, y.Checks))
	})
	slices.SortStableFunc(a.Databases, func(x, y DatabaseFact) int { return strings.Compare(x.Name, y.Name) })
}

func sortClassification(c *Classification) {
	slices.SortStableFunc(c.Tables, func(x, y ClassifiedTable) int {
		return cmp.Or(strings.Compare(x.Schema, y.Schema), strings.Compare(x.Name, y.Name))
	})
	for i := range c.Tables {
		slices.SortStableFunc(c.Tables[i].Columns, func(x, y ClassifiedColumn) int {
			return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.RuleID, y.RuleID))
		})
		slices.SortStableFunc(c.Tables[i].ReaderPaths, func(x, y Reader) int {
			return cmp.Or(strings.Compare(x.Role, y.Role), strings.Compare(x.Path, y.Path))
		})
		for j := range c.Tables[i].ReaderPaths {
			slices.Sort(c.Tables[i].ReaderPaths[j].Columns)
		}
	}
	slices.SortStableFunc(c.UnreadColumns, func(x, y UnreadColumns) int {
		return cmp.Or(strings.Compare(x.Schema, y.Schema), strings.Compare(x.Table, y.Table), strings.Compare(x.Reason, y.Reason))
	})
	slices.SortStableFunc(c.FailedTables, func(x, y FailedTable) int {
		return cmp.Or(strings.Compare(x.Schema, y.Schema), strings.Compare(x.Name, y.Name))
	})
}

// Compare orders finding keys: by check, instance, database, object.
func (k FindingKey) Compare(o FindingKey) int {
	return cmp.Or(
		strings.Compare(k.CheckID, o.CheckID),
		bytes.Compare(k.InstanceID[:], o.InstanceID[:]),
		strings.Compare(k.Database, o.Database),
		strings.Compare(k.Object, o.Object),
	)
}

// leadToAll are the attributes, permissions and privileges with which an account can give
// itself the others, or become an account that has them.
var leadToAll = []string{
	"CREATEROLE",
	"ALTER ANY LOGIN", "ALTER ANY SERVER ROLE", "IMPERSONATE ANY LOGIN",
	"GRANT ANY PRIVILEGE", "GRANT ANY ROLE", "GRANT ANY OBJECT PRIVILEGE", "BECOME USER",
}

// Power ranks what an account can do: a superuser above everything, a role
// that can make itself one (CREATEROLE, or a path into a role that reaches the
// server's files and programs) next, then each further attribute.
func (r DatabaseRole) Power() int {
	power := len(r.Attributes)
	if r.Superuser {
		power += 1000
	}
	if slices.ContainsFunc(r.Attributes, func(a string) bool { return slices.Contains(leadToAll, a) }) {
		power += 100
	}
	for _, path := range r.MemberOf {
		switch {
		case strings.HasSuffix(path, "pg_execute_server_program"),
			strings.HasSuffix(path, "pg_write_server_files"),
			strings.HasSuffix(path, "pg_read_server_files"):
			power += 50
		case strings.HasSuffix(path, " → securityadmin"):
			power += 100
		default:
			power++
		}
	}
	if r.Login {
		power++
	}
	return power
}

// Remote ranks whether an account can sign in from another host: yes, unknown, no.
func (r DatabaseRole) Remote() int {
	switch r.RemoteLogin {
	case "yes":
		return 2
	case "unknown", "":
		return 1
	default:
		return 0
	}
}
