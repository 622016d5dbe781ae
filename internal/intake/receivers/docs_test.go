package receivers_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"muster/internal/intake/receivers"
)

// collector is a configuration of the collector, as far as it is looked at.
type collector struct {
	Receivers map[string]struct {
		Server, Endpoint, Service, Username, Password string
		Port                                          int
		CollectionInterval                            string `yaml:"collection_interval"`
		Events                                        map[string]struct{ Enabled bool }
		Samples                                       struct {
			MaxRows int `yaml:"max_rows_per_query"`
		} `yaml:"query_sample_collection"`
		Top struct {
			MaxSamples int    `yaml:"max_query_sample_count"`
			Count      int    `yaml:"top_query_count"`
			Interval   string `yaml:"collection_interval"`
			Lookback   string `yaml:"lookback_time"`
		} `yaml:"top_query_collection"`
	}
	Processors map[string]struct {
		Attributes []struct{ Key, Value, Action string }
	}
	Exporters map[string]struct {
		Endpoint string
		Headers  map[string]string
	}
	Service struct {
		Pipelines map[string]struct{ Receivers, Processors, Exporters []string }
	}
}

// TestTheDocumentedConfiguration parses, hangs together, keeps to the receivers' limits,
// and turns on what is read and nothing that is not.
func TestTheDocumentedConfiguration(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/opentelemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("there is no configuration")
	}
	var c collector
	decoder := yaml.NewDecoder(strings.NewReader(string(block[1])))
	decoder.KnownFields(true)
	if err := decoder.Decode(&c); err != nil {
		t.Fatal(err)
	}
	for name, r := range c.Receivers {
		kind, _, _ := strings.Cut(name, "/")
		for event, on := range r.Events {
			if !receivers.IsEvent([]byte(event)) || !on.Enabled || kind == "postgresql" && event == "db.server.top_query" {
				t.Errorf("%s turns %s on, which is not read", name, event)
			}
		}
		most := map[string]int{"sqlserver": 10_000, "oracledb": 200, "postgresql": 0}[kind] // as their validation has it
		if r.Top.MaxSamples > 10_000 || r.Top.Count > most || r.Top.Count > r.Top.MaxSamples || r.Samples.MaxRows == 0 || r.Username == "" || r.Password == "" || r.Server+r.Endpoint == "" {
			t.Errorf("%s: %+v", name, r)
		}
		if often, err := time.ParseDuration(r.Top.Interval); kind == "oracledb" && (err != nil || often > 20*time.Second) {
			t.Errorf("%s looks every %s at statements: those seen once in a bucket do not count (readings, 17)", name, often)
		}
		for _, signal := range []string{"metrics", "logs"} {
			_, server, _ := strings.Cut(name, "/")
			p, ok := c.Service.Pipelines[signal+"/"+server]
			if !ok || !slices.Equal(p.Receivers, []string{name}) || len(p.Processors) != 1 || len(p.Exporters) != 1 {
				t.Errorf("%s of %s: %+v", signal, name, p)
				continue
			}
			set := map[string]string{}
			for _, a := range c.Processors[p.Processors[0]].Attributes {
				set[a.Key] = a.Action + " " + a.Value
			}
			if set["muster_instance"] != "upsert "+server || !strings.HasPrefix(set["muster_database"], "upsert ") {
				t.Errorf("%s of %s: %v", signal, name, set)
			}
			if e := c.Exporters[p.Exporters[0]]; !strings.HasSuffix(e.Endpoint, "/ingest/v1/otlp") || !strings.HasPrefix(e.Headers["Authorization"], "Bearer ") {
				t.Errorf("%s of %s: %+v", signal, name, e)
			}
		}
	}
	if kinds := fmt.Sprint(slices.Sorted(maps.Keys(c.Receivers))); len(c.Receivers) != 3 || len(c.Service.Pipelines) != 6 {
		t.Errorf("receivers %s, %d pipelines", kinds, len(c.Service.Pipelines))
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| `([\\w.]+)` \\|").FindAllSubmatch(page, -1)
	if len(rows) != 8 {
		t.Errorf("%d rows say what feeds a tile", len(rows))
	}
	for _, row := range rows {
		if !receivers.IsEvent(row[2]) && receivers.GaugeOf(row[2]) == 0 {
			t.Errorf("%s of %s is not read", row[2], row[1])
		}
	}
}
