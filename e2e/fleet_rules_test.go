package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"muster/internal/testing/pgtest"

	"github.com/google/uuid"

	"muster/internal/accounts"
	"muster/internal/cli/installation"
	"muster/internal/cli/operate"
	"muster/projections/fleet"
)

// fleetOfTeams is a file with 150 servers, five teams, protected keys, channels and rules.
func fleetOfTeams(member string) string {
	var file strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&file, format+"\n", args...) }
	line("settings: {protectedTags: [team, env], dueDays: {critical: 5}}")
	line("instances:")
	teams := []string{"payments", "platform", "analytics", "web", "shop"}
	for n := range 150 {
		env := map[bool]string{true: "prod", false: "test"}[n%3 > 0]
		tags := fmt.Sprintf("{team: %s, env: %s}", teams[n%5], env)
		if n%50 == 49 {
			tags = "{env: " + env + "}"
		}
		line("  - {externalId: pg-%03d, engine: postgresql, host: db%03d.example.org, tags: %s}", n, n, tags)
	}
	line("teams:")
	line("  - {name: Payments, tags: [team:payments, env:prod, env:test], members: {%s: member}}", member)
	line("  - {name: Platform, tags: [team:platform], members: {%s: viewer}}", member)
	line("  - {name: Analytics, tags: [team:analytics], instances: [pg-049], members: {%s: member}}", member)
	line("  - {name: Web, tags: [team:web, team:payments]}") // Payments comes first
	line("  - {name: Shop, tags: [team:shop, env:prod]}")
	line("channels:")
	line("  - {name: The owner, kind: team}")
	line("  - {name: On call, kind: email, members: [%s], administrators: true}", member)
	line("rules:")
	line("  - {name: Payments, teams: [Payments], severity: [critical, warning], event: [alert.raised, alert.resolved], channels: [On call, the owner], repeatMinutes: 60}")
	line("  - {name: Platform and web, teams: [Platform, Web], channels: [The owner]}")
	line("  - {name: Analytics, teams: [Analytics], tags: [env:prod], channels: [The owner], groupSeconds: 60}")
	line("  - {name: Shop, teams: [Shop], engine: [postgresql], nameContains: pg, channels: [The owner]}")
	line("  - {name: Production, tags: [env:prod], severity: [critical], instances: [pg-001, pg-049], channels: [On call], enabled: false}")
	line("watchRules:")
	line("  - {rule: backup_rpo, settings: [{tags: [env:prod], threshold: 15, enabled: true}, {enabled: true}]}")
	line("  - {rule: volume, settings: [{threshold: 85}]}")
	line("maintenanceWindows:")
	line("  - {name: Patch day, tags: [env:test], instances: [pg-001], every: week, weekday: sunday, at: '02:00', minutes: 180, timeZone: Europe/Amsterdam}")
	line("objectives:")
	line("  - {tags: [env:prod], availabilityPercent: 99.95, latencyMs: 20}")
	line("  - {availabilityPercent: 99}")
	return file.String()
}

// TestAFleetWithTeamsAndRulesInOneFile of at most 200 lines: it is applied twice, the second time
// without a change. Each server has the owner that the selectors give it.
func TestAFleetWithTeamsAndRulesInOneFile(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	text := fleetOfTeams(ana)
	if n := strings.Count(text, "\n"); n > 200 {
		t.Fatalf("the file has %d lines", n)
	}
	file := fleetFile(t, text)
	done := i.applies(t, 0, file)
	for _, want := range []string{
		"+ team Payments (env:prod, env:test, team:payments)\n", "+ channel The owner (team)\n", "+ channel On call (email)\n", "+ rule Payments (On call, the owner)\n",
		"protectedTags none → env,team", "to add: 163, to change: 4, to remove: 0\n", "done: 167 of 167",
		"~ watch rule backup_rpo: settings all off 1440 for 0 s critical → env:prod on 15 for 0 s critical; all on 1440 for 0 s critical\n",
		"~ watch rule volume: settings all on 90 for 0 s warning → all on 85 for 0 s warning\n",
		"+ maintenance window Patch day (env:test+pg-001)\n", "~ objectives: list none → env:prod 99.95 % 20 ms; all 99 %\n",
	} {
		if !strings.Contains(done.out, want) {
			t.Errorf("it does not say %q:\n%s", want, done.out)
		}
	}
	i.appliesAgain(t, file)
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		who, err := in.PrincipalOf(ctx, ana)
		if err != nil {
			return err
		}
		owned, err := ownedServers(ctx, in, who.Organization.ID)
		want := map[string]int{"Payments": 30, "Platform": 30, "Analytics": 31, "Web": 30, "Shop": 18, "": 11}
		if fmt.Sprint(owned) != fmt.Sprint(want) {
			t.Errorf("teams own %v servers, want %v", owned, want)
		}
		return err
	})
}

// ownedServers counts the servers of an organization by the names of their owners.
func ownedServers(ctx context.Context, in *installation.Installation, organization uuid.UUID) (map[string]int, error) {
	teams, err := in.Accounts.Teams(ctx, organization)
	if err != nil {
		return nil, err
	}
	rows, _, err := in.Fleet.Instances(ctx, fleet.Query{Organization: organization, Page: 1, Size: 1000})
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	tags, err := in.Fleet.TagsOf(ctx, organization, ids)
	owned, owner := map[string]int{}, accounts.Ownership(teams)
	for _, id := range ids {
		name := ""
		if t := owner(id, tags[id]); t != nil {
			name = t.Name
		}
		owned[name]++
	}
	return owned, err
}

// TestWatchRulesWindowsAndObjectivesOfAFile: what the file says takes the place of what was there, what it does not name
// stays until it is pruned, and a fault stands at its line.
func TestWatchRulesWindowsAndObjectivesOfAFile(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	const servers = "instances:\n  - {externalId: pg-1, engine: postgresql, tags: {env: prod}}\n"
	const window = "maintenanceWindows:\n  - {name: Patch day, tags: [env:prod], every: week, weekday: sunday, at: '02:00', minutes: %d, timeZone: Europe/Amsterdam}\n"
	says := func(done outcome, want ...string) {
		t.Helper()
		for _, line := range want {
			if !strings.Contains(done.out, line) {
				t.Errorf("it does not say %q:\n%s", line, done.out)
			}
		}
	}
	i.applies(t, 0, fleetFile(t, servers+fmt.Sprintf(window, 180)+"objectives:\n  - {availabilityPercent: 99.5}\nwatchRules:\n  - {rule: silent, settings: [{threshold: 7}]}\n"))
	changed := fleetFile(t, servers+fmt.Sprintf(window, 60)+"objectives:\n  - {instances: [pg-1], latencyMs: 5}\nwatchRules:\n  - {rule: silent, settings: [{tags: [env:prod], enabled: false}, {threshold: 7}]}\n")
	says(i.applies(t, 0, changed),
		"~ maintenance window Patch day: time every week sunday at 02:00 Europe/Amsterdam for 180 minutes → every week sunday at 02:00 Europe/Amsterdam for 60 minutes\n",
		"~ objectives: list all 99.5 % → pg-1 5 ms\n", "~ watch rule silent: settings all on 7", "→ env:prod off ", "done: 3 of 3")
	i.appliesAgain(t, changed)
	says(i.applies(t, 0, fleetFile(t, servers+"maintenanceWindows: []\n")), "maintenance window Patch day: is not in the file and stays")
	says(i.applies(t, 0, fleetFile(t, servers+"maintenanceWindows: []\nobjectives: []\n"), "--prune"), "- maintenance window Patch day\n", "~ objectives: list pg-1 5 ms → none\n", "done: 2 of 2")
	for text, want := range map[string]string{
		"watchRules:\n  - {rule: nothing, settings: [{}]}\n":                                        ":2: watchRules[0].rule must be the id of a watch rule",
		"watchRules:\n  - rule: volume\n    settings:\n      - {threshold: 101}\n":                  ":4: watchRules[0].settings[0].threshold must be 1 to 100",
		"watchRules:\n  - {rule: volume, settings: [{}]}\nsettings: {watch: {volumePercent: 80}}\n": ":2: watchRules[0].rule has its threshold in settings.watch, too",
		"watchRules:\n  - {rule: backup_rpo, settings: [{tags: [env:prod]}]}\n":                     "must be empty: the last setting is about every server",
		fmt.Sprintf(window, 20000):                                      "maintenanceWindows[0].minutes must be 1 to 10080",
		strings.Replace(fmt.Sprintf(window, 60), "[env:prod]", "[]", 1): "selects no server",
		"objectives:\n  - {tags: [env:prod]}\n":                         ":2: objectives[0]",
		"objectives:\n  - {availabilityPercent: 101}\n":                 "objectives[0].availabilityPercent must be",
		"objectives:\n  - {instances: [pg-9], latencyMs: 5}\n":          "the externalId of no instance",
	} {
		if done := i.applies(t, 1, fleetFile(t, text)); !strings.Contains(done.errors, want) && !strings.Contains(done.out, want) {
			t.Errorf("%q: %s%s, want %s", text, done.out, done.errors, want)
		}
	}
}

// TestTheOrderOfTeamsInAFile: the teams of a file come in its order, in the places that they have among
// all teams. A team that the file does not name keeps its place.
func TestTheOrderOfTeamsInAFile(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	file := func(names ...string) string {
		text := "instances: [{externalId: pg-1, engine: postgresql, tags: {env: prod}}]\nteams:\n"
		for _, name := range names {
			text += "  - {name: " + name + ", tags: [env:prod]}\n"
		}
		return fleetFile(t, text)
	}
	order := func(want string) {
		t.Helper()
		i.within(t, func(ctx context.Context, in *installation.Installation) error {
			who, err := in.PrincipalOf(ctx, ana)
			if err != nil {
				return err
			}
			teams, err := in.Accounts.Teams(ctx, who.Organization.ID)
			var names []string
			for _, team := range teams {
				names = append(names, team.Name)
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("the teams are %s, want %s", got, want)
			}
			return err
		})
	}
	i.applies(t, 0, file("A", "Other", "B"))
	moved := file("c", "B", "A")
	said := i.applies(t, operate.ExitDiffers, moved, "--dry-run").out
	for _, want := range []string{"+ team c (env:prod)\n", "~ team c: position 4 → 1\n", "~ team Other: position 3 → 2\n", "~ team B: position 4 → 3\n", "to add: 1, to change: 3, to remove: 0\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	order("A Other B")
	i.applies(t, 0, moved)
	order("c Other B A")
	if again := i.applies(t, 0, moved).out; !strings.Contains(again, "nothing to do") {
		t.Errorf("again it says\n%s", again)
	}
	i.applies(t, 0, file("A", "B"), "--prune")
	order("A B")
}

// TestChannelsAndRulesOfAFile follows them through a change, a rename by case, a list that names
// fewer, and --prune.
func TestChannelsAndRulesOfAFile(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	text := `teams: [{name: Web, tags: [team:web]}]
instances: [{externalId: pg-1, engine: postgresql}]
channels:
  - {name: The owner, kind: team}
  - {name: Mail, kind: email, administrators: true}
rules:
  - {name: Web, teams: [web], instances: [pg-1], tags: [env:prod], severity: [critical], channels: [The owner], groupSeconds: 30}
  - {name: All, channels: [Mail]}
`
	i.applies(t, 0, fleetFile(t, text))
	changed := strings.NewReplacer("kind: email, administrators: true", "kind: email, members: ["+strings.ToUpper(ana)+"]", "{name: Web, teams", "{name: WEB, teams",
		"severity: [critical]", "severity: [warning, critical]", "channels: [The owner], groupSeconds: 30", "channels: [Mail, The owner]", "tags: [env:prod], ", "").Replace(text)
	said := i.applies(t, operate.ExitDiffers, fleetFile(t, changed), "--dry-run").out
	for _, want := range []string{
		"~ channel Mail: administrators true → false, members 1 with another member\n",
		"~ rule Web: name Web → WEB, tags env:prod → none, severity critical → critical, warning, channels The owner → Mail, The owner\n",
		"to add: 0, to change: 2, to remove: 0\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	i.applies(t, 0, fleetFile(t, changed))
	if again := i.applies(t, 0, fleetFile(t, changed)); !strings.Contains(again.out, "nothing to do") {
		t.Errorf("again it says\n%s", again.out)
	}
	short := "channels: [{name: Mail, kind: email, administrators: true}]\nrules: [{name: All, channels: [Mail]}]\n"
	if left := i.applies(t, 0, fleetFile(t, short)).out; !strings.Contains(left, "  rule WEB: is not in the file and stays\n  channel The owner: is not in the file and stays\n") {
		t.Errorf("it says\n%s", left)
	}
	pruned := i.applies(t, 0, fleetFile(t, short), "--prune").out
	if !strings.Contains(pruned, "- rule WEB\n- channel The owner\n") || !strings.Contains(pruned, "done: 2 of 2") {
		t.Errorf("it says\n%s", pruned)
	}
	// A channel of a kind that no file can have stays.
	pgtest.Connect(t, i.url).MustExec(`UPDATE notification_channels SET kind = 'webhook' WHERE name = 'Mail'`)
	if kept := i.applies(t, 0, fleetFile(t, "channels: []\n"), "--prune").out; strings.Contains(kept, "channel Mail") {
		t.Errorf("it says\n%s", kept)
	}
	pgtest.Connect(t, i.url).MustExec(`UPDATE notification_channels SET kind = 'email' WHERE name = 'Mail'`)
	// A channel that a rule still uses stays, and the run says so.
	if kept := i.applies(t, 1, fleetFile(t, "channels: []\n"), "--prune"); !strings.Contains(kept.out+kept.errors, "The rule All tells through it.") {
		t.Errorf("it says\n%s%s", kept.out, kept.errors)
	}
	bad := i.applies(t, 1, fleetFile(t, `channels:
  - {name: A, kind: webhook}
  - {name: B, kind: email}
  - {name: C, kind: team, administrators: true}
  - {name: mail, kind: team}
rules:
  - {name: A, teams: [Nowhere], instances: [pg-9], channels: [Pigeon], severity: [loud], tags: [env]}
  - {name: B, channels: [], groupSeconds: 9999, repeatMinutes: 1}
  - {name: b, channels: [Mail], event: [alert.muted], engine: [dbase]}
`))
	for _, want := range []string{
		":2: channels[0].kind must be", ":3: channels[1].members must name at least one member", ":4: channels[2].kind is team, which has no members",
		":7: rules[0].severity must be among info, warning, critical", ":7: rules[0].tags must be keys and values", ":8: rules[1].channels must be 1 to 10",
		":8: rules[1].groupSeconds must be 0 to 3600", ":8: rules[1].repeatMinutes must be 0, or 5 to", ":9: rules[2].event must be among", ":9: rules[2].engine must be among", ":9: rules[2].name is that of line 8",
	} {
		if !strings.Contains(bad.out+bad.errors, want) {
			t.Errorf("no %q:\n%s%s", want, bad.out, bad.errors)
		}
	}
	bad = i.applies(t, 1, fleetFile(t, `channels: [{name: mail, kind: team}, {name: New, kind: email, members: [nobody@else.example]}]
rules: [{name: A, teams: [Nowhere], instances: [pg-9], channels: [Pigeon, New]}]
`))
	for _, want := range []string{
		"channels[0].kind is email of the channel that is there, and never changes", "channels[1].members has nobody@else.example, who is no member", `rules[0].teams has "Nowhere"`,
		`rules[0].instances has "pg-9"`, `rules[0].channels has "Pigeon", the name of no channel`,
	} {
		if !strings.Contains(bad.out+bad.errors, want) {
			t.Errorf("no %q:\n%s%s", want, bad.out, bad.errors)
		}
	}
}
