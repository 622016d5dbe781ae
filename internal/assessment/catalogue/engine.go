package catalogue

import (
	"muster/internal/engine"
	"muster/internal/engine/trait"
	"muster/internal/text/strictyaml"
)

// engineOf is how the checks of a check's engine are written.
func engineOf(c Check) trait.Checks { return engine.ChecksOf(c.Engine) }

// untried is said of statements that have met no server.
const untried = "The statement has not been tried on a live server."

// checksOf reads a file of definitions of an engine.
func checksOf(e *trait.Engine, text []byte) (checks []Check, err error) {
	if err := strictyaml.Decode(text, &checks); err != nil {
		return nil, err
	}
	for i := range checks {
		c := &checks[i]
		c.Engine = string(e.Name)
		for _, templates := range [][]Template{c.Statements, c.Undo, c.Grants} {
			for t := range templates {
				templates[t].dialect = e.Checks.Quote
			}
		}
		if e.Checks.Fed && len(c.Statements) > 0 && c.Impact != "" {
			c.Impact += " " + untried
		}
	}
	return checks, nil
}
