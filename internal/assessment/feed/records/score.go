package records

import (
	"fmt"
	"strings"

	g30 "github.com/pandatix/go-cvss/30"
	g31 "github.com/pandatix/go-cvss/31"
	g40 "github.com/pandatix/go-cvss/40"
)

// scoreOf computes the score of a vector of CVSS 3.0, 3.1 or 4.0.
func scoreOf(vector string) (float64, error) {
	var score float64
	var err error
	switch {
	case strings.HasPrefix(vector, "CVSS:4.0/"):
		var v *g40.CVSS40
		if v, err = g40.ParseVector(vector); err == nil {
			score = v.Score()
		}
	case strings.HasPrefix(vector, "CVSS:3.1/"):
		var v *g31.CVSS31
		if v, err = g31.ParseVector(vector); err == nil {
			score = v.BaseScore()
		}
	case strings.HasPrefix(vector, "CVSS:3.0/"):
		var v *g30.CVSS30
		if v, err = g30.ParseVector(vector); err == nil {
			score = v.BaseScore()
		}
	default:
		return 0, fmt.Errorf("%q is no vector of CVSS 3.0, 3.1 or 4.0", vector)
	}
	if err != nil {
		return 0, fmt.Errorf("vector %q: %w", vector, err)
	}
	return score, nil
}

// essential leaves out of a vector what it does not define.
func essential(vector string) string {
	parts := strings.Split(vector, "/")
	kept := parts[:0]
	for i, part := range parts {
		if i == 0 || !strings.HasSuffix(part, ":X") {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "/")
}
