package findings

import (
	"context"
	_ "embed" // the statements
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// By is what findings are grouped by.
type By string

// The groups.
const (
	OfCheck    By = "check"
	OfInstance By = "instance"
)

// column is what the findings of a group have in common.
func (b By) column() string {
	if b == OfInstance {
		return "f.instance_id::text"
	}
	return `f.check_id COLLATE "C"`
}

// Group is the findings of one check, or of one instance.
type Group struct {
	Key       string    `db:"key"`  // the check's or the instance's id
	Rank      int       `db:"rank"` // of the worst
	Findings  int64     `db:"findings"`
	Instances int64     `db:"instances"`
	Checks    int64     `db:"checks"`
	Databases int64     `db:"databases"`
	CVEs      bool      `db:"cves"` // each is about one
	FirstSeen time.Time `db:"first_seen_at"`
	LastSeen  time.Time `db:"last_seen_at"`
	Groups    int64     `db:"groups"` // in all
	Upgrades  []Upgrade
}

// Upgrade is a release and how much it closes on how many servers.
type Upgrade struct {
	To        string `db:"upgrade"`
	Instances int64  `db:"instances"`
	Closes    int64  `db:"closes"`
}

var (
	//go:embed sql/groups.sql
	groupsSQL string
	//go:embed sql/upgrades.sql
	upgradesSQL string
)

// Groups returns a page of what a query finds, grouped, the worst and largest groups
// first, and how many groups there are. The query's order does not count.
func Groups(ctx context.Context, q sqlx.QueryerContext, query Query, by By) ([]Group, int64, error) {
	if len(query.Instances) == 0 || query.Checks != nil && len(query.Checks) == 0 {
		return []Group{}, 0, nil
	}
	covered, matching, args := query.matching()
	words := strings.NewReplacer("{{covered}}", covered, "{{matching}}", matching, "{{key}}", by.column(),
		"{{size}}", strconv.Itoa(query.Size), "{{offset}}", strconv.FormatInt(int64(query.Page-1)*int64(query.Size), 10))
	groups, err := statement.All[Group](ctx, q, "group findings", words.Replace(groupsSQL), args...)
	if err != nil {
		return nil, 0, err
	}
	if len(groups) == 0 && query.Page > 1 { // past the end nothing says how many there are
		query.Page, query.Size = 1, 1
		_, total, err := Groups(ctx, q, query, by)
		return []Group{}, total, err
	}
	upgrades, err := statement.All[struct {
		Key string `db:"key"`
		Upgrade
	}](ctx, q, "read which upgrades close findings", words.Replace(upgradesSQL), args...)
	if err != nil {
		return nil, 0, err
	}
	var total int64
	for i := range groups {
		g := &groups[i]
		total = g.Groups
		for _, u := range upgrades {
			if u.Key == g.Key {
				g.Upgrades = append(g.Upgrades, u.Upgrade)
			}
		}
	}
	return groups, total, nil
}
