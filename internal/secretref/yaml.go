package secretref

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAMLFault is one thing that a reader of YAML refuses.
type YAMLFault struct {
	Line int // 0: the reader does not say
	Rule string
}

// lineOf finds the line in an error of the parser, which has no type.
var lineOf = regexp.MustCompile(`^line (\d+): `)

// YAMLFaults are those of a reader's error, without what they quote of the file: that is
// a value or the name of an anchor, and either may be a password that was not put into
// quotation marks.
func YAMLFaults(err error) (faults []YAMLFault) {
	lines := strings.Split(err.Error(), "\n")
	if typed := new(yaml.TypeError); errors.As(err, &typed) {
		lines = typed.Errors
	}
	for _, line := range lines {
		f := YAMLFault{Rule: strings.TrimPrefix(line, "yaml: ")}
		if found := lineOf.FindStringSubmatch(f.Rule); found != nil {
			f.Line, _ = strconv.Atoi(found[1])
			f.Rule = f.Rule[len(found[0]):]
		}
		if strings.ContainsAny(f.Rule, "'\"`") {
			f.Rule = "a value there cannot be read"
		}
		faults = append(faults, f)
	}
	return faults
}
