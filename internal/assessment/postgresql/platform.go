package postgresql

import (
	"context"
	"slices"

	"muster/internal/assessment/quote"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// platform is a service that runs PostgreSQL for its customers and keeps the superuser to
// itself. The zero value is no platform.
type platform struct {
	name string // Amazon RDS
	// The objects that identify it: the platform creates them on every server.
	roles, databases, settings, schemas []string
}

// platforms are identified by objects that they create on every server. The names are from
// their documentation and from published servers; none was tried live. A platform that is built
// on another comes before it.
var platforms = []platform{
	{name: "Amazon Aurora", settings: []string{"apg_enable_correlated_any_transform", "apg_ccm_enabled"}, databases: []string{"rdsadmin"}},
	{name: "Amazon RDS", roles: []string{"rds_superuser", "rdsadmin"}, databases: []string{"rdsadmin"}, settings: []string{"rds.extensions", "rds.force_ssl"}},
	{name: "Azure Database for PostgreSQL", roles: []string{"azure_pg_admin", "azuresu"}, databases: []string{"azure_maintenance", "azure_sys"}, settings: []string{"azure.extensions"}},
	{name: "AlloyDB", roles: []string{"alloydbsuperuser", "alloydbadmin"}, databases: []string{"alloydbadmin", "alloydbmetadata"}},
	{name: "Google Cloud SQL", roles: []string{"cloudsqlsuperuser", "cloudsqladmin"}, databases: []string{"cloudsqladmin"}},
	{name: "DigitalOcean", roles: []string{"doadmin", "_dodb"}, databases: []string{"_dodb"}},
	{name: "Aiven", roles: []string{"avnadmin", "_aiven"}, databases: []string{"_aiven"}},
	{name: "Supabase", roles: []string{"supabase_admin", "supabase_auth_admin", "supabase_storage_admin"}, databases: []string{"_supabase"}},
	{name: "Neon", roles: []string{"neon_superuser", "neon_service"}, settings: []string{"neon.tenant_id", "neon.timeline_id"}},
	{name: "Heroku Postgres", schemas: []string{"_heroku", "heroku_ext"}},
	{name: "Timescale Cloud", roles: []string{"tsdbadmin"}},
	{name: "Scaleway", roles: []string{"_rdb_superadmin"}},
	{name: "IBM Cloud Databases", roles: []string{"ibm-cloud-base-user"}},
	{name: "Yandex Cloud", roles: []string{"mdb_admin", "mdb_superuser"}},
	{name: "Alibaba Cloud", roles: []string{"pg_rds_superuser", "alicloud_rds_admin"}},
	{name: "Tencent Cloud", roles: []string{"pg_tencentdb_superuser", "tencentdb_superuser"}},
}

// keeps says that a database is the platform's own.
func (p platform) keeps(database string) bool { return slices.Contains(p.databases, database) }

// known says whether there is a platform.
func (p platform) known() bool { return p.name != "" }

// refuses is why a check, or a database, is not assessed: nobody can grant it.
func (p platform) refuses(what string) string {
	return "Not assessed: the platform does not give this. " + p.name + " keeps " + what + " to itself."
}

// withhold makes a result one that the platform leaves without an answer. It does not count as
// a gap, because nobody at the organization can close it.
func (p platform) withhold(result *snapshot.CheckResult, what string) {
	result.Status, result.ReasonCode, result.Reason = snapshot.StatusNotApplicable, snapshot.ReasonPlatform, p.refuses(what)
}

// readPlatform recognizes the platform of a server. It returns the zero platform if there is
// none, and for a superuser, which no platform provides.
func readPlatform(ctx context.Context, s servers.Session, superuser bool) (platform, error) {
	if superuser {
		return platform{}, nil
	}
	var roles, databases, settings, schemas []string
	for _, p := range platforms {
		roles, databases = append(roles, p.roles...), append(databases, p.databases...)
		settings, schemas = append(settings, p.settings...), append(schemas, p.schemas...)
	}
	rows, err := servers.Query(ctx, s, 2, `select 'role', rolname::text from pg_roles where rolname::text in (`+oneOf(roles)+`)
		union all select 'database', datname::text from pg_database where datname::text in (`+oneOf(databases)+`)
		union all select 'setting', name from pg_settings where name in (`+oneOf(settings)+`)
		union all select 'schema', nspname::text from pg_namespace where nspname::text in (`+oneOf(schemas)+`)`)
	if err != nil {
		return platform{}, err
	}
	found := map[[2]string]bool{}
	for _, row := range rows {
		found[[2]string{row[0], row[1]}] = true
	}
	has := func(kind string, names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return found[[2]string{kind, name}] })
	}
	for _, p := range platforms {
		shared := p.databases // Aurora has the database of RDS
		if p.name == "Amazon Aurora" {
			shared = nil
		}
		if has("role", p.roles) || has("database", shared) || has("setting", p.settings) || has("schema", p.schemas) {
			return p, nil
		}
	}
	return platform{}, nil
}

func oneOf(names []string) (list string) {
	for i, name := range names {
		if i > 0 {
			list += ", "
		}
		list += quote.Literal(name)
	}
	return list
}
