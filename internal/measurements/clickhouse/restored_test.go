package clickhouse_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/pgstore"
	"muster/internal/testing/pgtest"
)

// TestALedgerThatIsOlderThanItsBlocks, as after a restore, gives the numbers of lost series to
// others. Each series still shows only its own data: no figure of another series or another
// organization appears, and a series that is sent again has its blocks back.
func TestALedgerThatIsOlderThanItsBlocks(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Shared(t)
	url := c.URL(c.Database(t))
	hour := timegrid.Hour.Floor(time.Now().UTC().Add(-5 * time.Hour))
	acme, bolt, cord := uuid.New(), uuid.New(), uuid.New()
	use := func(t testing.TB) (send func(of uuid.UUID, host string, at time.Time, cpu float64), putAway func(), shown func(uuid.UUID) string) {
		ledger := pgtest.DB(t)
		store := pgstore.NewOn(ledger, open(t, url, ledger, clickhouse.Limits{}), quiet())
		send = func(of uuid.UUID, host string, at time.Time, cpu float64) {
			t.Helper()
			if _, err := store.Write(t.Context(), measurements.Batch{Organization: of, Hosts: []measurements.HostSample{{Host: host, At: at, CPUPercent: &cpu}}}); err != nil {
				t.Fatal(err)
			}
		}
		putAway = func() {
			t.Helper()
			_, err := store.Roll(t.Context())
			if err == nil {
				_, err = ledger.ExecContext(t.Context(), `UPDATE measured_hours SET arrived_at = arrived_at - interval '1 hour'`)
			}
			if err == nil {
				_, err = store.Compact(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		shown = func(of uuid.UUID) string {
			t.Helper()
			tile, err := store.Utilization(t.Context(), of, measurements.HostScope{}, timegrid.Window{From: hour, To: hour.Add(3 * time.Hour), Size: timegrid.Hour})
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprint(tile.HostCount)
			for _, v := range tile.CPUPercent {
				if !math.IsNaN(v) {
					text += fmt.Sprint(" ", math.Round(v))
				}
			}
			return text
		}
		return send, putAway, shown
	}
	send, putAway, _ := use(t)
	send(acme, "db01", hour, 11)
	send(acme, "db01", hour.Add(time.Hour), 12)
	send(bolt, "db02", hour, 22)
	putAway()

	t.Run("restored", func(t *testing.T) { // which has a ledger of its own, as from before both
		t.Parallel()
		send, putAway, shown := use(t)
		send(cord, "db01", hour, 33)
		send(bolt, "db02", hour.Add(time.Hour), 44)
		wants := func(when string, wants map[uuid.UUID]string) {
			t.Helper()
			for of, want := range wants {
				if got := shown(of); got != want {
					t.Errorf("%s, organization %d of %v shows %s, want %s", when, map[uuid.UUID]int{acme: 1, bolt: 2, cord: 3}[of], wants, got, want)
				}
			}
		}
		putAway()
		wants("restored", map[uuid.UUID]string{acme: "0", bolt: "1 22 44", cord: "1 33"})
		send(acme, "db01", hour.Add(2*time.Hour), 55)
		putAway()
		wants("sent again", map[uuid.UUID]string{acme: "1 11 12 55", bolt: "1 22 44", cord: "1 33"})
	})
}
