package bench_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"muster/internal/testing/pgtest"
)

// instances is how many servers a report is about, as in the demo.
const instances = 14

// shop is what a watched database holds: something to classify, and accounts
// that have more rights than they need.
const shop = `
CREATE TABLE customers (id int PRIMARY KEY, first_name text, last_name text, email text, phone text, date_of_birth date);
CREATE TABLE payments (id int PRIMARY KEY, customer_id int, iban text, card_number text, amount numeric);
CREATE TABLE orders (id int PRIMARY KEY, customer_id int, placed_at timestamptz, ship_address text);
CREATE TABLE logins (at timestamptz, user_name text, ip_address inet, password_hash text);
GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC`

// fleet registers fourteen instances on two real servers, seven databases each,
// and waits until all have been assessed and classified.
func (p *program) fleet() {
	p.b.Helper()
	servers := []*pgtest.Server{
		pgtest.Cluster(p.b, pgtest.Options{Fsync: true}),
		pgtest.Cluster(p.b, pgtest.Options{Fsync: true}),
	}
	for _, s := range servers {
		db := pgtest.Connect(p.b, s.Superuser())
		for n := range 12 {
			db.MustExec(fmt.Sprintf(`CREATE ROLE service_%02d LOGIN %s`, n, []string{"", "SUPERUSER", "CREATEROLE CREATEDB"}[n%3]))
		}
	}
	for n := range instances {
		s, name := servers[n%len(servers)], fmt.Sprintf("shop_%02d", n)
		pgtest.Connect(p.b, s.Superuser()).MustExec(`CREATE DATABASE ` + name)
		pgtest.Connect(p.b, s.URL(pgtest.Superuser, name)).MustExec(shop)
	}
	for n := range instances {
		name := fmt.Sprintf("shop_%02d", n)
		p.call(http.MethodPost, "/instances", map[string]any{
			"name": strings.ReplaceAll(name, "_", "-"), "engine": "postgresql",
			"dsn": servers[n%len(servers)].TCPURL(pgtest.Superuser, name), "separate": true,
		}, new(map[string]any), http.StatusCreated)
	}
	p.until("all instances are assessed and classified", 100*time.Millisecond, 3*time.Minute, p.assessed)
}

func (p *program) assessed() bool {
	var page struct {
		Items []struct {
			Name             string
			LastAssessedAt   *time.Time
			LastClassifiedAt *time.Time
			LastError        *string
		}
	}
	p.get("/instances?pageSize=200", &page)
	if len(page.Items) != instances {
		p.b.Fatalf("%d instances", len(page.Items))
	}
	for _, i := range page.Items {
		if i.LastError != nil {
			p.b.Fatalf("%s: %s", i.Name, *i.LastError)
		}
		if i.LastAssessedAt == nil || i.LastClassifiedAt == nil {
			return false
		}
	}
	return true
}
