package resolve

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
	for _, name := range []string{"orders", "billing", "billing2", "twin1", "twin2", "v6", "ported", "ordersdb", "shop1", "shop2", "auditdb", "full", "mapped", "windows", "port1", "port2", "renamed", "renamed2", "renamed3", "renamed4", "shop3"} {
		id[name] = uuid.Must(uuid.NewV7()) // in the order of registration
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
		{ID: id["port1"], ExternalID: "a1", Name: "db09:5432", Host: "db09"},
		{ID: id["port2"], ExternalID: "a2", Name: "db09:5433", Host: "db09"},
		{ID: id["renamed"], ExternalID: "x", Name: "orders", Host: "db10"},
		{ID: id["renamed2"], ExternalID: "x2", Name: "db7", Host: "db10"},
		{ID: id["renamed3"], ExternalID: "x3", Name: "pg-1", Host: "db10"},
		{ID: id["renamed4"], ExternalID: "x4", Name: id["orders"].String(), Host: "db10"},
	}, []fleet.CalledDatabase{
		{ID: id["ordersdb"], InstanceID: id["orders"], ExternalID: "o", Name: "orders"},
		{ID: id["shop1"], InstanceID: id["billing"], ExternalID: "shop", Name: "shop_v2"},
		{ID: id["auditdb"], InstanceID: id["billing"], ExternalID: "shop_v2", Name: "audit"}, // its key is another's name
		{ID: id["shop2"], InstanceID: id["twin2"], ExternalID: "shop", Name: "shop"},
		{ID: id["shop3"], InstanceID: id["billing2"], ExternalID: "shop", Name: "shop"}, // added after that of billing
	})
	for name, c := range map[string]struct {
		labels             string
		instance, database string
		ambiguous          bool
		limit              fleet.Limit
	}{
		"by id":                              {`{"muster_instance":"` + id["orders"].String() + `"}`, "orders", "", false, nil},
		"by external id":                     {`{"muster_instance":"pg-1"}`, "orders", "", false, nil},
		"by name":                            {`{"muster_instance":"billing"}`, "billing", "", false, nil},
		"an external id beats a name":        {`{"muster_instance":"orders"}`, "billing2", "", false, nil},
		"muster_instance is no host":         {`{"muster_instance":"db01"}`, "", "", false, nil},
		"and is not overruled":               {`{"muster_instance":"nobody","instance":"orders"}`, "", "", false, nil},
		"an empty label is none":             {`{"muster_instance":"","instance":"billing"}`, "billing", "", false, nil},
		"instance is a name":                 {`{"instance":"orders"}`, "orders", "", true, nil},
		"a name with a port":                 {`{"instance":"orders:9187"}`, "orders", "", true, nil},
		"a host":                             {`{"instance":"db01"}`, "orders", "", false, nil},
		"a host with a port":                 {`{"instance":"db01:9187"}`, "orders", "", false, nil},
		"a name is no way to another's host": {`{"instance":"db01:5433"}`, "orders", "", false, nil},
		"a host that has the port":           {`{"instance":"db04:9187"}`, "ported", "", false, nil},
		"a host without its port":            {`{"instance":"db04"}`, "", "", false, nil},
		"IPv6 in brackets":                   {`{"instance":"[2001:db8::1]:9187"}`, "v6", "", false, nil},
		"IPv6 bare":                          {`{"instance":"2001:db8::1"}`, "v6", "", false, nil},
		"instance is no external id":         {`{"instance":"pg-2"}`, "", "", false, nil},
		"several on a host":                  {`{"instance":"db02:9187"}`, "billing", "", true, nil},
		"a database decides":                 {`{"instance":"db02:9187","datname":"shop_v2"}`, "billing", "shop1", false, nil},
		"of several names as well":           {`{"instance":"twin","datname":"shop"}`, "twin2", "shop2", false, nil},
		"a database that none has":           {`{"instance":"db02","datname":"nope"}`, "billing", "", true, nil},
		"a host beats a name":                {`{"instance":"twin"}`, "twin2", "", false, nil}, // another one is called so, too
		"muster_database beats datname":      {`{"instance":"orders","muster_database":"orders","datname":"nope"}`, "orders", "ordersdb", false, nil},
		"a database by its external id":      {`{"instance":"orders","datname":"o"}`, "orders", "ordersdb", false, nil},
		"a name beats an external id":        {`{"instance":"billing","datname":"shop_v2"}`, "billing", "shop1", false, nil},
		"a database of another instance":     {`{"instance":"orders","datname":"shop"}`, "orders", "", true, nil},
		"a database alone is nowhere":        {`{"datname":"orders"}`, "", "", false, nil},
		// C14: hosts are compared as DNS names and addresses are, names of instances in their letters.
		"a host in another case":           {`{"instance":"db7.EXAMPLE.org:9100"}`, "full", "", false, nil},
		"a host with a dot":                {`{"instance":"db7.example.org.:9100"}`, "full", "", false, nil},
		"the URL of an exporter":           {`{"instance":"http://db7.example.org:9187/metrics"}`, "full", "", false, nil},
		"a short name":                     {`{"instance":"db7:9100"}`, "full", "", false, nil},
		"IPv6 written out":                 {`{"instance":"[2001:0DB8:0:0:0:0:0:1]:9187"}`, "v6", "", false, nil},
		"IPv4 mapped into IPv6":            {`{"instance":"[::ffff:192.0.2.7]:9100"}`, "mapped", "", false, nil},
		"a Windows machine":                {`{"instance":"sql01:9182"}`, "windows", "", false, nil},
		"SQL Server's own form":            {`{"instance":"SQL01\\INST"}`, "windows", "", false, nil},
		"a name in another case":           {`{"instance":"ORDERS"}`, "", "", false, nil},
		"a name among those on a host":     {`{"instance":"db09:5433"}`, "port2", "", false, nil},
		"the first one on a host":          {`{"instance":"db09:9187"}`, "port1", "", true, nil},
		"the token's own on a host":        {`{"instance":"db09:9187"}`, "port2", "", true, fleet.Limit{id["port2"]}},
		"a token of neither":               {`{"instance":"db09:9187"}`, "port1", "", true, fleet.Limit{id["orders"]}},
		"the first one of a name":          {`{"muster_instance":"twin"}`, "twin1", "", true, nil},
		"the token's own of a name":        {`{"muster_instance":"twin"}`, "twin2", "", true, fleet.Limit{id["twin2"]}},
		"a token of both":                  {`{"muster_instance":"twin"}`, "twin1", "", true, fleet.Limit{id["twin2"], id["twin1"]}},
		"a token of one with its own name": {`{"muster_instance":"pg-1"}`, "orders", "", false, fleet.Limit{id["renamed3"]}},
		"renamed to another's host":        {`{"instance":"db7:9187"}`, "full", "", false, nil},
		"renamed to another's id":          {`{"muster_instance":"` + id["orders"].String() + `"}`, "orders", "", false, nil},
		"renamed to another's external id": {`{"muster_instance":"pg-1"}`, "orders", "", false, nil},
		"a database that was added later":  {`{"instance":"db02","datname":"shop"}`, "billing", "shop1", true, nil},
		"nothing":                          {`{"alertname":"A"}`, "", "", false, nil},
		"only a port":                      {`{"instance":":9187"}`, "", "", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var labels map[string]string
			if err := json.Unmarshal([]byte(c.labels), &labels); err != nil {
				t.Fatal(err)
			}
			if got, want := directory.Find(Of(labels), c.limit), (Found{id[c.instance], id[c.database], c.ambiguous}); got != want {
				t.Errorf("found %+v, want %+v", got, want)
			}
		})
	}
}

// TestFindEngine: by an address, measurements belong to the only instance of its engine there,
// or to the token's own; by a name, to the first instance with that name.
func TestFindEngine(t *testing.T) {
	t.Parallel()
	first, second, other := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	directory := newDirectory([]fleet.CalledInstance{
		{ID: first, Engine: fleet.PostgreSQL, ExternalID: "1", Name: "twin", Host: "db01"},
		{ID: second, Engine: fleet.PostgreSQL, ExternalID: "2", Name: "twin", Host: "db01"},
		{ID: other, Engine: fleet.SQLServer, ExternalID: "3", Name: "twin", Host: "db01"},
	}, nil)
	for name, c := range map[string]struct {
		labels Labels
		engine fleet.Engine
		limit  fleet.Limit
		want   Found
	}{
		"the only one of its engine":  {Labels{Address: "db01:1433"}, fleet.SQLServer, nil, Found{Instance: other}},
		"one of two by an address":    {Labels{Address: "db01:5432"}, fleet.PostgreSQL, nil, Found{}},
		"the token's own":             {Labels{Address: "db01:5432"}, fleet.PostgreSQL, fleet.Limit{second}, Found{Instance: second, Ambiguous: true}},
		"neither is the token's":      {Labels{Address: "db01:5432"}, fleet.PostgreSQL, fleet.Limit{other}, Found{}},
		"one of two by its name":      {Labels{Instance: "twin"}, fleet.PostgreSQL, nil, Found{Instance: first, Ambiguous: true}},
		"the only one by its name":    {Labels{Instance: "twin"}, fleet.SQLServer, nil, Found{Instance: other}},
		"the token's own by its name": {Labels{Instance: "twin"}, fleet.PostgreSQL, fleet.Limit{second}, Found{Instance: second, Ambiguous: true}},
	} {
		if got := directory.FindEngine(c.labels, c.engine, c.limit); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestReferences: every text to look up, and none that PostgreSQL could not accept.
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
