package catalogue

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Kinds of a Read.
const (
	ReadRelation = "relation"
	ReadFunction = "function"
	ReadRole     = "role"
	ReadSetting  = "setting"
	ReadColumn   = "column"
)

// Read is one thing a check reads.
type Read struct {
	Kind    string
	Name    string
	Columns []string // of a relation, where not all are read; the one of a column
}

var readForm = regexp.MustCompile(`^(relation|function|role|setting|column) ([a-z0-9_]+)(?:\(([a-z0-9_, ]*)\)|\.([a-z0-9_]+))?$`)

// UnmarshalYAML reads the written form, "relation pg_authid(rolname, rolpassword)".
func (r *Read) UnmarshalYAML(node *yaml.Node) error {
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
