package remotewrite_test

import (
	"math"
	"testing"

	"muster/internal/intake/hostmetrics"
	"muster/internal/intake/hostmetrics/hostmetricstest"
	. "muster/internal/intake/remotewrite/remotewritetest"
)

func FuzzDecode1(f *testing.F) { fuzz(f, "1.0") }

func FuzzDecode2(f *testing.F) { fuzz(f, "2.0") }

// fuzz begins with a scrape and with series that are read in part. testdata/fuzz has
// what was found to matter.
func fuzz(f *testing.F, version string) {
	v := versions[version]
	var read []Series
	for _, s := range fixture(f, receipt, map[string]string{"instance": "[::1]:9100", "muster_instance": "pg"}) {
		if hostmetrics.NodeExporter([]byte(s.Labels["__name__"])) != 0 {
			read = append(read, s)
		}
	}
	f.Add(v.encode(read...))
	odd := One("node_cpu_seconds_total", receipt, StaleNaN(), "instance", "a", "cpu", "0", "mode", "idle")
	odd.Samples = append(odd.Samples, Sample{At: math.MaxInt64, Value: 1}, Sample{At: math.MinInt64, Value: 1}, Sample{At: 1, Value: math.NaN()}, Sample{At: 2, Value: -1})
	f.Add(v.encode(odd, One("", receipt, 1), One("node_filesystem_size_bytes", receipt, 0, "instance", "a", "mountpoint", "/")))
	f.Fuzz(func(t *testing.T, body []byte) {
		hostmetricstest.Decode(t, body, receipt, func() (*hostmetrics.Message, error) {
			m, err := v.decode(body, receipt)
			if err != nil {
				return nil, err
			}
			return m.Message, nil
		})
	})
}
