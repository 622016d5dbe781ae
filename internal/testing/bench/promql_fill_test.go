package bench_test

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"muster/domain/fleet"
)

// promqlSeries is a series as the stores beside ours have it.
type promqlSeries struct {
	labels [][2]string
	twice  bool // an Oracle's statements come twice (measuredServer.sample)
	of     func(values) float64
}

// promqlFamilies are the names of series, and which a server has of each.
func promqlFamilies() map[string]func(measuredServer) []promqlSeries {
	host := func(of func(values) float64) func(measuredServer) []promqlSeries {
		return func(s measuredServer) []promqlSeries {
			return []promqlSeries{{labels: [][2]string{{"instance", s.name}}, of: of}}
		}
	}
	statements := func(of func(v values, d, n int) float64) func(measuredServer) []promqlSeries {
		return func(s measuredServer) (all []promqlSeries) {
			for d := range s.databases {
				for n := range statementsEach {
					labels := [][2]string{{"instance", s.name}, {"database", strconv.Itoa(d)}, {"key", strconv.Itoa(n)}}
					all = append(all, promqlSeries{labels, s.engine == fleet.Oracle, func(v values) float64 { return of(v, d, n) }})
				}
			}
			return all
		}
	}
	return map[string]func(measuredServer) []promqlSeries{
		"cpu":    host(func(v values) float64 { return v.cpu }),
		"memory": host(func(v values) float64 { return v.memory }),
		"disk":   host(func(v values) float64 { return v.disk }),
		"calls":  statements(func(v values, d, n int) float64 { return float64(v.statements[d][n].calls) }),
		"total":  statements(func(v values, d, n int) float64 { return v.statements[d][n].total }),
		"waiting": func(s measuredServer) (all []promqlSeries) {
			for d := range s.databases {
				for n, line := range promqlWaits {
					labels := [][2]string{{"instance", s.name}, {"database", strconv.Itoa(d)}, {"line", line}}
					all = append(all, promqlSeries{labels: labels, of: func(v values) float64 { return float64(v.waits[d][n]) }})
				}
			}
			return all
		},
	}
}

// times are when everything is sampled: every hour of the month, every minute of its last day.
func (m *measured) times(day time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		step := time.Hour
		for at := m.end.AddDate(0, 0, -tilesDays); at.Before(m.end); at = at.Add(step) {
			if !at.Before(day) {
				step = time.Minute
			}
			if !yield(at) {
				return
			}
		}
	}
}

// samples are those of a series, in the order of time.
func (m *measured) samples(s measuredServer, of promqlSeries, day time.Time) iter.Seq2[time.Time, float64] {
	return func(yield func(time.Time, float64) bool) {
		for at := range m.times(day) {
			value := of.of(s.values(at))
			if !yield(at, value) || of.twice && !yield(at.Add(20*time.Second), value) {
				return
			}
		}
	}
}

// prometheus fills a Prometheus: blocks made by promtool.
func (m *measured) prometheus(day time.Time) *promqlStore {
	b := m.p.b
	b.Helper()
	if !installed(b, "prometheus", "promtool") {
		return nil
	}
	dir := b.TempDir()
	text := filepath.Join(dir, "samples.txt")
	if err := m.openMetrics(text, day); err != nil {
		b.Fatal(err)
	}
	blocks := exec.CommandContext(b.Context(), "promtool", "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=744h", "--quiet", text, filepath.Join(dir, "data"))
	if out, err := blocks.CombinedOutput(); err != nil {
		b.Fatalf("promtool: %v\n%.2000s", err, out)
	}
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte("scrape_configs: []\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.Remove(text); err != nil {
		b.Fatal(err)
	}
	base := m.serveBeside("/-/ready", "prometheus", func(address string) []string {
		return []string{
			"--config.file=" + config, "--storage.tsdb.path=" + filepath.Join(dir, "data"), "--storage.tsdb.retention.time=90d",
			"--web.listen-address=" + address, "--query.timeout=10m", "--query.max-samples=500000000", "--log.level=error",
		}
	})
	return &promqlStore{m, "Prometheus", base}
}

// openMetrics writes all samples, series by series, as promtool takes them.
func (m *measured) openMetrics(path string, day time.Time) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	var line []byte
	for name, of := range promqlFamilies() {
		fmt.Fprintf(out, "# TYPE %s gauge\n", name)
		for _, s := range m.servers {
			for _, series := range of(s) {
				labels := joinLabels(series.labels, "%s=%q")
				for at, value := range m.samples(s, series, day) {
					line = append(append(append(line[:0], name...), '{'), labels...)
					line = strconv.AppendFloat(append(line, "} "...), value, 'g', -1, 64)
					line = strconv.AppendInt(append(line, ' '), at.Unix(), 10)
					_, _ = out.Write(append(line, '\n')) // Flush tells
				}
			}
		}
	}
	fmt.Fprintln(out, "# EOF")
	return out.Flush()
}

// victoriaMetrics fills a VictoriaMetrics over its import.
func (m *measured) victoriaMetrics(day time.Time) *promqlStore {
	b := m.p.b
	b.Helper()
	if !installed(b, "victoria-metrics") {
		return nil
	}
	base := m.serveBeside("/health", "victoria-metrics", func(address string) []string {
		return []string{
			"-storageDataPath=" + b.TempDir(), "-httpListenAddr=" + address, "-retentionPeriod=3", "-search.latencyOffset=0s",
			"-search.disableCache", "-search.maxQueryDuration=10m", "-loggerLevel=ERROR",
		}
	})
	body, in := io.Pipe()
	go func() { _ = in.CloseWithError(m.importLines(in, day)) }()
	m.postBeside(base+"/api/v1/import", body)
	m.postBeside(base+"/internal/force_flush", nil)
	return &promqlStore{m, "VictoriaMetrics", base}
}

func (m *measured) postBeside(to string, body io.Reader) {
	b := m.p.b
	b.Helper()
	response, err := http.Post(to, "application/json", body)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	if said, err := io.ReadAll(response.Body); err != nil || response.StatusCode >= http.StatusMultipleChoices {
		b.Fatalf("%s: %s %v %.500s", to, response.Status, err, said)
	}
}

// importLines writes a line a series.
func (m *measured) importLines(to io.Writer, day time.Time) error {
	out := bufio.NewWriterSize(to, 1<<20)
	var values, times []byte
	for name, of := range promqlFamilies() {
		for _, s := range m.servers {
			for _, series := range of(s) {
				values, times = values[:0], times[:0]
				for at, value := range m.samples(s, series, day) {
					values = append(strconv.AppendFloat(values, value, 'g', -1, 64), ',')
					times = append(strconv.AppendInt(times, at.UnixMilli(), 10), ',')
				}
				fmt.Fprintf(out, `{"metric":{"__name__":%q,%s},"values":[%s],"timestamps":[%s]}`+"\n",
					name, joinLabels(series.labels, "%q:%q"), values[:len(values)-1], times[:len(times)-1])
			}
		}
	}
	return out.Flush()
}

// joinLabels writes labels, each in a form.
func joinLabels(labels [][2]string, form string) string {
	all := make([]string, len(labels))
	for i, l := range labels {
		all[i] = fmt.Sprintf(form, l[0], l[1])
	}
	return strings.Join(all, ",")
}
