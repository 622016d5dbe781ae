package assistant

import (
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// suffixes of figures' names say their units (contract, §1.3).
var suffixes = []struct{ suffix, unit string }{
	{"Ms", "milliseconds"}, {"Percent", "percent, 0 to 100"}, {"Seconds", "seconds"}, {"Minutes", "minutes"}, {"Days", "days"},
	{"BytesPerDay", "bytes a day"}, {"Bytes", "bytes"},
}

// addUnits says the unit of every figure of the data that has one: by the tool, or by its name.
// Only names of the schema count: other keys are texts of machines.
func (t tool) addUnits(units map[string]string, s *openapi3.Schema, data any) {
	switch v := data.(type) {
	case []any:
		for _, item := range v {
			t.addUnits(units, itemsOf(s), item)
		}
	case map[string]any:
		for name, member := range v {
			known, inner := property(s, name)
			if unit := t.unit(name); known && unit != "" {
				units[name] = unit
			}
			t.addUnits(units, inner, member)
		}
	}
}

func (t tool) unit(name string) string {
	if unit, ok := t.figures[name]; ok {
		return unit
	}
	for _, s := range suffixes {
		if strings.HasSuffix(name, s.suffix) {
			return s.unit
		}
	}
	return ""
}
