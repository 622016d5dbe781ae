package clickhouse_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/pgstore"
	"muster/internal/testing/pgtest"
)

// TestNothingOfADeletedOrganizationIsStored: hours are put away while their organization is deleted, and no
// server keeps any of them.
func TestNothingOfADeletedOrganizationIsStored(t *testing.T) {
	t.Parallel()
	c, db := clickhousetest.Shared(t), pgtest.DB(t)
	name := c.Database(t)
	s := pgstore.NewOn(db, open(t, c.URL(name), db, clickhouse.Limits{}), quiet())
	organization, hour := uuid.New(), time.Now().UTC().Truncate(time.Hour).Add(-4*time.Hour)
	b := measurements.Batch{Organization: organization}
	for n := range 100 {
		b.Hosts = append(b.Hosts, measurements.HostSample{Host: fmt.Sprint("host-", n), At: hour.Add(time.Minute)})
	}
	if _, err := s.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE measured_hours SET arrived_at = arrived_at - interval '1 hour'`); err != nil {
		t.Fatal(err)
	}
	var putting sync.WaitGroup
	for range 2 {
		putting.Go(func() {
			if _, err := s.Compact(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	if err := s.DeleteOrganization(t.Context(), organization); err != nil {
		t.Fatal(err)
	}
	putting.Wait()
	for _, server := range c.Servers {
		for _, table := range []string{"minutes", "hours", "days", "raw"} {
			if n := server.Number(t, "SELECT count() FROM "+name+"."+table+"_local"); n != 0 {
				t.Errorf("%s has %d rows of %s", server.Addr(), n, table)
			}
		}
	}
}
