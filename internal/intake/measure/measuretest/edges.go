package measuretest

import (
	"strings"

	"muster/internal/measurements/blocking"
)

// Edges are who waits for whom in the samples of a batch: "51 52<-51 advisory 53 advisory 54<-53".
// A session that waits for two of them is "55<-51+52", and the sides of a deadlock are apart: "deadlock 51<-52".
func Edges(samples []blocking.Sample) string {
	var out []string
	for _, s := range samples {
		for _, n := range s.Nodes {
			one := n.Session
			if n.Waits != nil {
				one += "<-" + strings.Join(n.For, "+")
			}
			if s.Advisory {
				one = "advisory " + one
			}
			if s.Deadlock != nil {
				one = "deadlock " + one
			}
			out = append(out, one)
		}
	}
	return strings.Join(out, " ")
}
