package sqlserver

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

//go:embed sql/server.sql
var serverSQL string

//go:embed sql/started.sql
var startedSQL string

//go:embed sql/databases.sql
var databasesSQL string

//go:embed sql/databases_azure.sql
var databasesAzureSQL string

//go:embed sql/encryption.sql
var encryptionSQL string

//go:embed sql/sessions.sql
var sessionsSQL string

// identity is what a server is, and who we are there.
type identity struct {
	login    string
	azure    bool // Azure SQL Database
	managed  bool // Azure SQL Managed Instance
	release  int  // 16 is 2022
	version  string
	edition  string
	sysadmin bool
}

// Kinds of servers (SERVERPROPERTY('EngineEdition')) that differ: a connection to a database
// of Azure or Fabric sees that alone, and Synapse has other views.
var (
	databasesAlone = []string{"5", "12"}
	synapse        = []string{"6", "11"}
	managed        = "8"
)

func readIdentity(ctx context.Context, s servers.Session) (identity, error) {
	row, err := servers.Row(ctx, s, 8, serverSQL)
	if err != nil {
		return identity{}, err
	}
	if slices.Contains(synapse, row[1]) {
		return identity{}, &servers.ConnectionError{Class: servers.ClassDatabase, Sentence: "The server is Azure Synapse, which Muster does not assess."}
	}
	who := identity{login: row[0], azure: slices.Contains(databasesAlone, row[1]), managed: row[1] == managed, version: row[2], edition: row[3], sysadmin: row[6] == "1"}
	if who.azure {
		who.sysadmin = row[7] == "1"
	}
	release, _, _ := strings.Cut(row[2], ".")
	if who.release, err = strconv.Atoi(release); err != nil {
		return identity{}, fmt.Errorf("ProductVersion is %q", row[2])
	}
	return who, nil
}

// database is one as the server lists it.
type database struct {
	fact       snapshot.DatabaseFact
	state      string // ONLINE, RESTORING, …
	accessible bool   // for our login
	replicated bool   // of an availability group
	own        bool   // the server's: the checks of databases are about others
}

// readDatabases lists the databases by name.
func readDatabases(ctx context.Context, s servers.Session, azure bool) ([]database, error) {
	query := databasesSQL
	if azure {
		query = databasesAzureSQL
	}
	rows, err := servers.Query(ctx, s, 8, query)
	if err != nil {
		return nil, err
	}
	var out []database
	for _, row := range rows {
		d := database{
			fact:  snapshot.DatabaseFact{Name: row[0], Owner: row[1], AllowsConn: row[2] == online},
			state: row[2], accessible: row[3] == "1", replicated: row[6] == "1", own: row[7] == "1",
		}
		if size, err := strconv.ParseInt(row[5], 10, 64); err == nil {
			d.fact.SizeBytes = &size
		}
		if row[4] == "0" { // 1 is also one whose pages are still being encrypted
			d.fact.EncryptedAtRest = new(bool)
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b database) int { return cmp.Compare(a.fact.Name, b.fact.Name) })
	return out, nil
}

const online = "ONLINE"

// encrypted is the encryption_state of a database whose files are encrypted, all of them.
const encrypted = "3"

// readEncryption fills in which databases are encrypted, where our login may see that.
func readEncryption(ctx context.Context, s servers.Session, databases []database) {
	rows, err := servers.Query(ctx, s, 2, encryptionSQL)
	if err != nil {
		return
	}
	for _, row := range rows {
		for i := range databases {
			if d := &databases[i].fact; d.Name == row[0] && d.EncryptedAtRest == nil {
				whole := row[1] == encrypted
				d.EncryptedAtRest = &whole
			}
		}
	}
}

// readActivity fills in when the server started, and its sessions over the network.
func readActivity(ctx context.Context, s servers.Session, a *snapshot.Assessment) {
	if row, err := servers.Row(ctx, s, 1, startedSQL); err == nil {
		if at, err := strconv.ParseInt(row[0], 10, 64); err == nil {
			started := time.UnixMicro(at).UTC().Truncate(time.Second)
			a.ServerStartedAt = &started
		}
	}
	row, err := servers.Row(ctx, s, 2, sessionsSQL)
	if err != nil {
		return
	}
	all, err := strconv.Atoi(row[0])
	secured, err2 := strconv.Atoi(row[1])
	if err == nil && err2 == nil {
		a.ClientSessions, a.TLSSessions = &all, &secured
	}
}
