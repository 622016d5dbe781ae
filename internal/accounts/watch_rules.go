package accounts

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/postgres/statement"
)

// WatchSettings are how an organization has set its watch rules, by rule. What it never set is
// missing.
type WatchSettings map[string][]organization.WatchSetting

type watchRule struct {
	Organization uuid.UUID `db:"organization_id"`
	Rule         string
	Settings     watchSettings
}

type watchSettings []organization.WatchSetting

// Scan implements sql.Scanner.
func (s *watchSettings) Scan(src any) error {
	return statement.ScanJSON(src, (*[]organization.WatchSetting)(s))
}

// WatchRules returns the settings of every organization that has any.
func (s *Store) WatchRules(ctx context.Context) (map[uuid.UUID]WatchSettings, error) {
	rows, err := statement.All[watchRule](ctx, s.db, "list watch rules", `SELECT organization_id, rule, settings FROM watch_rules`)
	all := map[uuid.UUID]WatchSettings{}
	for _, row := range rows {
		if all[row.Organization] == nil {
			all[row.Organization] = WatchSettings{}
		}
		all[row.Organization][row.Rule] = row.Settings
	}
	return all, err
}

// WatchRulesOf returns those of one organization.
func (s *Store) WatchRulesOf(ctx context.Context, org uuid.UUID) (WatchSettings, error) {
	rows, err := statement.All[watchRule](ctx, s.db, "list the watch rules of an organization", `SELECT organization_id, rule, settings FROM watch_rules WHERE organization_id = $1`, org)
	all := WatchSettings{}
	for _, row := range rows {
		all[row.Rule] = row.Settings
	}
	return all, err
}

// WatchRule returns the stored settings of one rule as tx sees them.
func (s *Store) WatchRule(ctx context.Context, tx *sqlx.Tx, org uuid.UUID, rule string) ([]organization.WatchSetting, error) {
	row, _, err := statement.Find[watchRule](ctx, tx, "look up a watch rule", `SELECT organization_id, rule, settings FROM watch_rules WHERE organization_id = $1 AND rule = $2`, org, rule)
	return row.Settings, err
}

// SaveWatchRule stores the settings of one rule.
func (s *Store) SaveWatchRule(ctx context.Context, tx *sqlx.Tx, org uuid.UUID, rule string, settings []organization.WatchSetting) error {
	text, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "store a watch rule", `INSERT INTO watch_rules (organization_id, rule, settings) VALUES ($1, $2, $3)
		ON CONFLICT (organization_id, rule) DO UPDATE SET settings = excluded.settings`, org, rule, string(text))
}
