package places

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/uuid"

	"muster/domain/fleet"
)

// TestFind is the contract's rule of whose an alert is (§18.4).
func TestFind(t *testing.T) {
	t.Parallel()
	id := map[string]uuid.UUID{}
	for _, name := range []string{"orders", "billing", "billing2", "twin1", "twin2", "v6", "ported", "ordersdb", "shop1", "shop2", "auditdb", "full", "mapped", "windows"} {
		id[name] = uuid.New()
	}
	directory := newDirectory([]fleet.CalledInstance{
		{ID: id["orders"], ExternalID: "pg-1", Name: "orders", Host: "db01"},
		{ID: id["billing"], ExternalID: "pg-2", Name: "billing", Host: "db02"},      // two on one host
		{ID: id["billing2"], ExternalID: "orders", Name: "db01:5433", Host: "db02"}, // called like others
		{ID: id["twin1"], ExternalID: "t1", Name: "twin", Host: "db03"},
		{ID: id["twin2"], ExternalID: "t2", Name: "twin", Host: "twin"},
		{ID: id["v6"], ExternalID: "6", Name: "six", Host: "2001:db8::1"},
		{ID: id["ported"], ExternalID: "p", Name: "p", Host: "db04:9187"},
		{ID: uuid.New(), ExternalID: "nowhere", Name: "nowhere"}, // no host is known
		{ID: id["full"], ExternalID: "f", Name: "f", Host: "DB7.Example.org."},
		{ID: id["mapped"], ExternalID: "m", Name: "m", Host: "192.0.2.7"},
		{ID: id["windows"], ExternalID: "w", Name: "w", Host: "SQL01"},
	}, []fleet.CalledDatabase{
		{ID: id["ordersdb"], InstanceID: id["orders"], ExternalID: "o", Name: "orders"},
		{ID: id["shop1"], InstanceID: id["billing"], ExternalID: "shop", Name: "shop_v2"},
		{ID: id["auditdb"], InstanceID: id["billing"], ExternalID: "shop_v2", Name: "audit"}, // its key is another's name
		{ID: id["shop2"], InstanceID: id["twin2"], ExternalID: "shop", Name: "shop"},
	})
	for name, c := range map[string]struct {
		labels             string
		instance, database string
	}{
		"by id":                          {`{"muster_instance":"` + id["orders"].String() + `"}`, "orders", ""},
		"by external id":                 {`{"muster_instance":"pg-1"}`, "orders", ""},
		"by name":                        {`{"muster_instance":"billing"}`, "billing", ""},
		"an external id beats a name":    {`{"muster_instance":"orders"}`, "billing2", ""},
		"muster_instance is no host":     {`{"muster_instance":"db01"}`, "", ""},
		"and is not overruled":           {`{"muster_instance":"nobody","instance":"orders"}`, "", ""},
		"an empty label is none":         {`{"muster_instance":"","instance":"billing"}`, "billing", ""},
		"instance is a name":             {`{"instance":"orders"}`, "orders", ""},
		"a name with a port":             {`{"instance":"orders:9187"}`, "orders", ""},
		"a host":                         {`{"instance":"db01"}`, "orders", ""},
		"a host with a port":             {`{"instance":"db01:9187"}`, "orders", ""},
		"a name that has the port":       {`{"instance":"db01:5433"}`, "billing2", ""},
		"a host that has the port":       {`{"instance":"db04:9187"}`, "ported", ""},
		"a host without its port":        {`{"instance":"db04"}`, "", ""},
		"IPv6 in brackets":               {`{"instance":"[2001:db8::1]:9187"}`, "v6", ""},
		"IPv6 bare":                      {`{"instance":"2001:db8::1"}`, "v6", ""},
		"instance is no external id":     {`{"instance":"pg-1"}`, "", ""},
		"several on a host":              {`{"instance":"db02:9187"}`, "", ""},
		"a database decides":             {`{"instance":"db02:9187","datname":"shop_v2"}`, "billing", "shop1"},
		"of several names as well":       {`{"instance":"twin","datname":"shop"}`, "twin2", "shop2"},
		"a database that none has":       {`{"instance":"db02","datname":"nope"}`, "", ""},
		"a name beats a host":            {`{"instance":"twin"}`, "", ""}, // twin2's host, but two are called so
		"muster_database beats datname":  {`{"instance":"orders","muster_database":"orders","datname":"nope"}`, "orders", "ordersdb"},
		"a database by its external id":  {`{"instance":"orders","datname":"o"}`, "orders", "ordersdb"},
		"a name beats an external id":    {`{"instance":"billing","datname":"shop_v2"}`, "billing", "shop1"},
		"a database of another instance": {`{"instance":"orders","datname":"shop"}`, "orders", ""},
		"a database alone is nowhere":    {`{"datname":"orders"}`, "", ""},
		// C14: hosts are compared as DNS names and addresses are, names of instances in their letters.
		"a host in another case": {`{"instance":"db7.EXAMPLE.org:9100"}`, "full", ""},
		"a host with a dot":      {`{"instance":"db7.example.org.:9100"}`, "full", ""},
		"the URL of an exporter": {`{"instance":"http://db7.example.org:9187/metrics"}`, "full", ""},
		"a short name":           {`{"instance":"db7:9100"}`, "full", ""},
		"IPv6 written out":       {`{"instance":"[2001:0DB8:0:0:0:0:0:1]:9187"}`, "v6", ""},
		"IPv4 mapped into IPv6":  {`{"instance":"[::ffff:192.0.2.7]:9100"}`, "mapped", ""},
		"a Windows machine":      {`{"instance":"sql01:9182"}`, "windows", ""},
		"SQL Server's own form":  {`{"instance":"SQL01\\INST"}`, "windows", ""},
		"a name in another case": {`{"instance":"ORDERS"}`, "", ""},
		"nothing":                {`{"alertname":"A"}`, "", ""},
		"only a port":            {`{"instance":":9187"}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var labels map[string]string
			if err := json.Unmarshal([]byte(c.labels), &labels); err != nil {
				t.Fatal(err)
			}
			instance, database := directory.Find(Of(labels))
			if instance != id[c.instance] || database != id[c.database] {
				t.Errorf("found %s, %s", instance, database)
			}
		})
	}
}

// TestReferences: everything that is to be looked up, and nothing that
// PostgreSQL could not take.
func TestReferences(t *testing.T) {
	t.Parallel()
	instances, databases := references([]Labels{
		{Address: "db01:9187", Database: "orders"}, {Address: "db01:9188", Database: "orders"},
		{Instance: "pg-1"}, {Instance: "a\x00b", Database: "\x00"}, {},
	})
	if !slices.Equal(instances, []string{"db01", "db01:9187", "db01:9188", "pg-1"}) || !slices.Equal(databases, []string{"orders"}) {
		t.Errorf("instances %q, databases %q", instances, databases)
	}
}
