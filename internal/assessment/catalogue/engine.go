package catalogue

import (
	"bytes"
	"regexp"

	"go.yaml.in/yaml/v3"

	"muster/domain/fleet"
	"muster/internal/assessment/quote"
)

// engine is a kind of server that there are checks of, in the directory of its name.
type engine struct {
	name    fleet.Engine
	id      *regexp.Regexp
	form    string // of an id, in words
	fed     bool   // a feed may say what came of its checks, and no server of it has met them
	dialect quote.Dialect
}

var engines = []engine{
	{name: fleet.PostgreSQL, id: regexp.MustCompile(`^PG-[A-Z][0-9]{2}$`), form: "PG-X00", dialect: quote.PostgreSQL},
	{name: fleet.SQLServer, id: regexp.MustCompile(`^MS-[0-9]{2}$`), form: "MS-00", fed: true, dialect: quote.SQLServer},
	{name: fleet.Oracle, id: regexp.MustCompile(`^OR-[0-9]{2}$`), form: "OR-00", fed: true, dialect: quote.Oracle},
}

func engineOf(c Check) engine {
	for _, e := range engines {
		if string(e.name) == c.Engine {
			return e
		}
	}
	return engine{}
}

// untried is said of statements that have met no server.
const untried = "The statement has not been tried on a live server."

// checks reads a file of definitions.
func (e engine) checks(text []byte) (checks []Check, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&checks); err != nil {
		return nil, err
	}
	for i := range checks {
		c := &checks[i]
		c.Engine = string(e.name)
		for _, templates := range [][]Template{c.Statements, c.Undo, c.Grants} {
			for t := range templates {
				templates[t].dialect = e.dialect
			}
		}
		if e.fed && len(c.Statements) > 0 && c.Impact != "" {
			c.Impact += " " + untried
		}
	}
	return checks, nil
}
