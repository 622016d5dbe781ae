package httpapi

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/internal/intake/remotewrite/remotewritetest"
)

// column is one kind of token of docs/security.md's table, with servers of its own: own, too
// and connected are the token's; theirs is not, and shares a host with too.
type column struct {
	sender
	name string
	ids  map[string]uuid.UUID
}

func (w *world) column(name string, limited bool) column {
	server := func(called, host string) inventory.Item {
		return inventory.Item{ExternalID: name + "-" + called, Host: new(name + "-" + host), Databases: []inventory.Database{database("d", w.ago(day))}}
	}
	c := column{name: name, ids: w.fed(w.ours, server("own", "own"), server("too", "both"), server("theirs", "both"), server("connected", "connected"), server("doomed", "doomed"))}
	w.connect(w.ours, c.ids[name+"-connected"])
	c.sender = sender{w, w.ingestToken(w.ours.admin)}
	if limited {
		c.token = w.ingestToken(w.ours.admin, c.id("own"), c.id("too"), c.id("connected"), c.id("doomed"))
	}
	return c
}

func (c column) id(called string) uuid.UUID { return c.ids[c.name+"-"+called] }

func (c column) fleet(called string, change members) answer {
	host := called
	if called == "too" || called == "theirs" {
		host = "both"
	}
	return c.send(fleetPath, fleetBatch(c.ofInstance(members{"externalId": c.name + "-" + called, "name": c.name + "-" + called, "host": c.name + "-" + host}).with(change)))
}

func (c column) sessions(called string) answer {
	of := members{"instance": c.name + "-" + called}
	return c.send(samplesPath, members{"sessions": []members{c.ofSessions(of)}, "statements": []members{c.ofStatements(of)}})
}

func (c column) host(host, called string) answer {
	return c.send(samplesPath, members{"hosts": []members{c.ofHost(members{"host": c.name + "-" + host, "instances": []string{c.name + "-" + called}})}})
}

func (c column) scrape(host, called string) answer {
	series := scraped(c.name+"-"+host+":9100", c.ago(time.Minute), 1, 1)
	for i := range series {
		series[i].Labels["muster_instance"] = c.name + "-" + called
	}
	return c.write("1.0", series...)
}

func (c column) collector(host, called string) answer {
	return c.send(otlpPath, memoryOf(c.name+"-"+host, c.name+"-"+called, c.ago(time.Minute)))
}

// memoryOf is what a collector measures of the memory of a host that names its instance.
func memoryOf(host, instance string, at time.Time) string {
	point := fmt.Sprintf(`{"gauge":{"dataPoints":[{"timeUnixNano":"%d","asInt":"1"}]},"name":`, at.UnixNano())
	return fmt.Sprintf(`{"resourceMetrics":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":%q}},{"key":"muster_instance","value":{"stringValue":%q}}]},
		"scopeMetrics":[{"metrics":[%s"system.memory.limit"},%s"system.linux.memory.available"}]}]}]}`, host, instance, point, point)
}

func (c column) alert(called string) answer {
	change := map[string]any{}
	if called != "" {
		change["instance"] = c.name + "-" + called
	}
	return c.send(nativePath, batch(c.item(c.name+called, change)))
}

func (c column) backs(called string) answer {
	return c.send(backupsPath, members{"backups": []members{c.backup(c.name+"-"+called, "full", time.Hour, nil)}})
}

func (c column) fires(path, called string) answer {
	alert := members{"status": "firing", "labels": members{"alertname": "Disk", "muster_instance": c.name + "-" + called, "door": path}, "annotations": members{}, "startsAt": c.ago(time.Minute), "generatorURL": "http://p/"}
	switch path {
	case apiPath:
		return c.send(path, []members{alert.with(members{"status": nil})})
	case grafanaPath:
		return c.send(path, members{"version": "1", "status": "firing", "receiver": "m", "orgId": 1, "externalURL": "http://g/", "alerts": []members{alert.with(members{"fingerprint": "ab"})}})
	}
	return c.send(path, members{"version": "4", "status": "firing", "receiver": "m", "externalURL": "http://a/", "alerts": []members{alert}})
}

func (c column) reports(called string) answer {
	return c.send(agentsPath, c.reportOf(c.name+called, reported(c.name+"-"+called)), as(c.name+called))
}

const grafanaPath = "/ingest/v1/grafana/webhook"

// deeds are the lines of the table; what of several is said to be one, all of them do alike.
func deeds() map[string]func(c column) []answer {
	one := func(send func(c column) answer) func(c column) []answer {
		return func(c column) []answer { return []answer{send(c)} }
	}
	tell := func(called string, changes ...members) func(c column) []answer {
		return func(c column) (all []answer) {
			for _, change := range changes {
				all = append(all, c.fleet(called, change))
			}
			return all
		}
	}
	gone := members{"externalId": "d", "name": "d", "createdAt": time.Unix(0, 0), "removed": true}
	const theirs, other, connected = "an instance outside the token", "an alert about another instance or about none", "an instance with a connection"
	return map[string]func(c column) []answer{
		fleetPath + " an unchanged instance":                      tell("own", nil),
		fleetPath + " a new instance":                             tell("new", nil),
		fleetPath + " a new name for its instance":                tell("own", members{"name": "x"}),
		fleetPath + " a new host for its instance":                tell("own", members{"host": "x"}, members{"host": ""}),
		fleetPath + " its instance, deactivated or activated":     tell("own", members{"active": false}),
		fleetPath + " another engine for its instance":            tell("own", members{"engine": "oracle"}),
		fleetPath + " a new version of its instance":              tell("too", members{"version": "99"}),
		fleetPath + " new and removed databases of its instance":  tell("too", members{"databases": []members{{"externalId": "n", "name": "n", "createdAt": time.Unix(0, 0)}}}, members{"databases": []members{gone.with(members{"externalId": "n"})}}),
		fleetPath + " the removal of its instance":                tell("doomed", members{"removed": true}),
		fleetPath + " " + theirs:                                  tell("theirs", nil),
		fleetPath + " a new name, host or state for " + connected: tell("connected", members{"name": "x"}, members{"host": "x"}, members{"active": false}),
		fleetPath + " the removal of " + connected:                tell("connected", members{"removed": true}),
		fleetPath + " a removed database of " + connected:         tell("connected", members{"databases": []members{gone}}),

		samplesPath + " sessions and statements of its instance":         one(func(c column) answer { return c.sessions("own") }),
		samplesPath + " sessions or statements of " + theirs:             one(func(c column) answer { return c.sessions("theirs") }),
		samplesPath + " sessions or statements of " + connected:          one(func(c column) answer { return c.sessions("connected") }),
		samplesPath + " its instance's host":                             one(func(c column) answer { return c.host("own", "own") }),
		samplesPath + " the host of " + connected:                        one(func(c column) answer { return c.host("connected", "connected") }),
		samplesPath + " a host that also runs " + theirs:                 one(func(c column) answer { return c.host("both", "too") }),
		samplesPath + " a host that its instance is not known to run on": one(func(c column) answer { return c.host("far", "own") }),

		writePath + " its instance's host":                             one(func(c column) answer { return c.scrape("own", "own") }),
		writePath + " a host that runs " + theirs:                      one(func(c column) answer { return c.scrape("both", "too") }),
		writePath + " a host that its instance is not known to run on": one(func(c column) answer { return c.scrape("far", "own") }),
		writePath + " whether an exporter reaches " + theirs: one(func(c column) answer {
			return c.write("1.0", remotewritetest.One("pg_up", c.ago(time.Minute), 1, "instance", "e:9187", "muster_instance", c.name+"-theirs"))
		}),
		otlpPath + " its instance's host":        one(func(c column) answer { return c.collector("own", "own") }),
		otlpPath + " a host that runs " + theirs: one(func(c column) answer { return c.collector("both", "too") }),
		logsPath + " sessions of " + theirs: one(func(c column) answer {
			return c.send(logsPath, fmt.Sprintf(`{"resourceLogs":[{"resource":{"attributes":[{"key":"muster_instance","value":{"stringValue":"%s-theirs"}}]},"scopeLogs":[{"logRecords":[
				{"timeUnixNano":"%d","eventName":"db.server.query_sample","attributes":[{"key":"db.namespace","value":{"stringValue":"d"}},{"key":"postgresql.pid","value":{"intValue":"7"}},
				{"key":"postgresql.state","value":{"stringValue":"active"}},{"key":"db.system.name","value":{"stringValue":"postgresql"}}]}]}]}]}`, c.name, c.ago(time.Minute).UnixNano()))
		}),
		assessmentsPath + " an assessment of its instance": one(func(c column) answer { return c.send(assessmentsPath, sentBatch(c.of(c.name+"-own", time.Hour))) }),
		assessmentsPath + " an assessment of " + theirs:    one(func(c column) answer { return c.send(assessmentsPath, sentBatch(c.of(c.name+"-theirs", time.Hour))) }),
		assessmentsPath + " an assessment of " + connected: one(func(c column) answer { return c.send(assessmentsPath, sentBatch(c.of(c.name+"-connected", time.Hour))) }),
		backupsPath + " a backup of its instance, also of one with a connection": func(c column) []answer {
			return []answer{c.backs("own"), c.backs("connected")}
		},
		backupsPath + " a backup of " + theirs:       one(func(c column) answer { return c.backs("theirs") }),
		nativePath + " an alert about its instance":  one(func(c column) answer { return c.alert("own") }),
		nativePath + " " + other:                     func(c column) []answer { return []answer{c.alert("theirs"), c.alert("")} },
		webhookPath + " an alert about its instance": one(func(c column) answer { return c.fires(webhookPath, "own") }),
		webhookPath + " " + other: func(c column) []answer {
			return []answer{c.fires(webhookPath, "theirs"), c.fires(webhookPath, "nobody")}
		},
		apiPath + " " + other: func(c column) []answer { return []answer{c.fires(apiPath, "theirs"), c.fires(apiPath, "nobody")} },
		grafanaPath + " " + other: func(c column) []answer {
			return []answer{c.fires(grafanaPath, "theirs"), c.fires(grafanaPath, "nobody")}
		},
		agentsPath + " a report about its instance": one(func(c column) answer { return c.reports("own") }),
		agentsPath + " a report about " + theirs:    one(func(c column) answer { return c.reports("theirs") }),
		agentsPath + " a server of another engine as its instance": one(func(c column) answer {
			met := members{"identity": members{"engine": "oracle", "system": "7", "process": "1000", "role": "", "pooler": ""}}
			return c.send(agentsPath, c.reportOf(c.name, reported(c.name+"-own").with(met)), as(c.name))
		}),
	}
}

// TestTheTableOfTokens: docs/security.md says what a limited token and another may do, and
// the program does just that.
func TestTheTableOfTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page, err := os.ReadFile("../../docs/security.md")
	must(t, err)
	_, table, _ := strings.Cut(string(page), "| Endpoint | Content | Limited token | Token without a limit |\n|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	all, door := deeds(), ""
	columns := []column{w.column("l", true), w.column("u", false)}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] != "" {
			door = strings.Trim(cells[0], "`")
		}
		deed := door + " " + cells[1]
		do := all[deed]
		if do == nil {
			t.Errorf("nothing does %q", deed)
			continue
		}
		delete(all, deed)
		for i, c := range columns {
			before := w.droppedSamples(door)["forbidden"]
			answers := do(c)
			var outcomes []string
			for _, a := range answers {
				outcomes = append(outcomes, a.outcome())
			}
			if n := w.droppedSamples(door)["forbidden"] - before; n >= float64(len(answers)) {
				outcomes = []string{"dropped `forbidden`"}
			} else if agent, _ := w.agentOf(w.ours.admin, c.id("theirs")); door == agentsPath && strings.HasSuffix(deed, "outside the token") && agent == nil {
				outcomes = []string{"left out"}
			}
			if got := slices.Compact(outcomes); !cmp.Equal(got, []string{cells[2+i]}) {
				t.Errorf("%s, token %s: %q, the table says %q: %s", deed, c.name, got, cells[2+i], answers[0].Body)
			}
		}
	}
	if len(all) > 0 {
		t.Errorf("the table does not say %q", slices.Sorted(maps.Keys(all)))
	}
}

// outcome is an answer as the table has it.
func (a answer) outcome() string {
	if a.Code < 300 {
		return "accepted"
	}
	return fmt.Sprintf("%d `%v`", a.Code, a.object()["code"])
}
