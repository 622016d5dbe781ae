package catalogue

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"muster/internal/engine/trait"
	"muster/internal/text/strictyaml"
)

// Kinds of a Read.
const (
	ReadRelation = "relation"
	ReadFunction = "function"
	ReadRole     = "role"
	ReadSetting  = "setting"
	ReadColumn   = "column"

	// Of SQL Server and Oracle.
	ReadView      = trait.ReadView      // a documented view or table, with the columns read
	ReadProperty  = "property"          // of SERVERPROPERTY and the like, with its name
	ReadOption    = "option"            // a row of SQL Server's sys.configurations
	ReadParameter = trait.ReadParameter // a parameter of the server, by name
)

// Read is one thing a check reads.
type Read struct {
	Kind    string
	Name    string
	Columns []string // of a relation, where not all are read; the one of a column
}

var (
	foreignForm = regexp.MustCompile(`^(view|property) ([A-Za-z0-9_.$]+)\(([A-Za-z0-9_#, ]+)\)$`)
	namedForm   = regexp.MustCompile(`^(option|parameter) ([A-Za-z0-9_ ()]+)$`)
)

var readForm = regexp.MustCompile(`^(relation|function|role|setting|column) ([a-z0-9_]+)(?:\(([a-z0-9_, ]*)\)|\.([a-z0-9_]+))?$`)

// UnmarshalYAML reads the written form, "relation pg_authid(rolname, rolpassword)".
func (r *Read) UnmarshalYAML(node *strictyaml.Node) error {
	if parts := foreignForm.FindStringSubmatch(node.Value); parts != nil {
		*r = Read{Kind: parts[1], Name: parts[2], Columns: strings.Split(strings.ReplaceAll(parts[3], " ", ""), ",")}
		return nil
	}
	if parts := namedForm.FindStringSubmatch(node.Value); parts != nil {
		*r = Read{Kind: parts[1], Name: parts[2]}
		return nil
	}
	parts := readForm.FindStringSubmatch(node.Value)
	if parts == nil {
		return fmt.Errorf("line %d: %q is no read", node.Line, node.Value)
	}
	r.Kind, r.Name = parts[1], parts[2]
	switch {
	case parts[4] != "":
		r.Columns = []string{parts[4]}
	case parts[3] != "":
		for column := range strings.SplitSeq(parts[3], ",") {
			r.Columns = append(r.Columns, strings.TrimSpace(column))
		}
	}
	if (r.Kind == ReadColumn) != (parts[4] != "") {
		return fmt.Errorf("line %d: %q: a column is written table.column", node.Line, node.Value)
	}
	return nil
}

// Object names what is read, as people know it.
func (r Read) Object() string {
	switch r.Kind {
	case ReadRelation:
		if len(r.Columns) > 0 {
			return r.Name + " (" + strings.Join(r.Columns, ", ") + ")"
		}
		return r.Name
	case ReadFunction:
		return r.Name + "()"
	case ReadRole:
		return "what members of " + r.Name + " see"
	case ReadSetting:
		return "setting " + r.Name
	case ReadView, ReadProperty:
		return r.Name + " (" + strings.Join(r.Columns, ", ") + ")"
	case ReadOption:
		return "sys.configurations, " + r.Name
	case ReadParameter:
		return "V$PARAMETER, " + r.Name
	default:
		return r.Name + "." + strings.Join(r.Columns, ", ")
	}
}

// settingsRole shows its members the settings that hold secrets of the server.
const settingsRole = "pg_read_all_settings"

// Denied is the object as it is named where the monitoring role may not read it:
// settings are not granted one by one.
func (r Read) Denied() string {
	if r.Kind == ReadSetting {
		return Read{Kind: ReadRole, Name: settingsRole}.Object()
	}
	return r.Object()
}

// Membership is the predefined role that a read is a matter of, "" for none.
func (r Read) Membership() string {
	switch r.Kind {
	case ReadRole:
		return r.Name
	case ReadSetting:
		return settingsRole
	default:
		return ""
	}
}

// Grant is the statement that lets role read it; role is quoted already.
func (r Read) Grant(role string) string {
	switch r.Kind {
	case ReadRelation:
		columns := ""
		if len(r.Columns) > 0 {
			columns = " (" + strings.Join(r.Columns, ", ") + ")"
		}
		return "GRANT SELECT" + columns + " ON pg_catalog." + r.Name + " TO " + role + ";"
	case ReadFunction:
		return "GRANT EXECUTE ON FUNCTION pg_catalog." + r.Name + "() TO " + role + ";"
	case ReadRole, ReadSetting:
		return "GRANT " + r.Membership() + " TO " + role + ";"
	default:
		return ""
	}
}

// Setting says whether it is a setting of SQL Server or Oracle, which one query reads
// with all others.
func (r Read) Setting() bool { return r.Kind == ReadOption || r.Kind == ReadParameter }

// foreign says whether it is read on a SQL Server or an Oracle.
func (r Read) foreign() bool {
	return slices.Contains([]string{ReadView, ReadProperty, ReadOption, ReadParameter}, r.Kind)
}

// right is what lets an account read it, in words; "" where anybody may, or where the
// check says so itself.
func (r Read) right() string {
	switch r.Kind {
	case ReadRelation:
		return "SELECT on pg_catalog." + r.Object()
	case ReadFunction:
		return "EXECUTE on pg_catalog." + r.Object()
	case ReadRole, ReadSetting:
		return "membership in " + r.Membership()
	default:
		return ""
	}
}

// LeastRights are the rights that let an account read all that a check reads, each
// once.
func (c Check) LeastRights() []string {
	rights := slices.Clone(c.Rights)
	e := engineOf(c)
	for _, r := range c.Reads {
		switch {
		case !e.Fed:
			rights = append(rights, r.right())
		case e.Right != nil:
			rights = append(rights, e.Right(r.Kind, r.Name))
		}
	}
	slices.Sort(rights)
	return slices.DeleteFunc(slices.Compact(rights), func(right string) bool { return right == "" })
}
