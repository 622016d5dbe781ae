package clickhouse_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/blocks/blockstest"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/testing/pgtest"
)

// TestAConnectionOutlivesItsPut: the next statement on it works, whatever the scheduler does.
func TestAConnectionOutlivesItsPut(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Shared(t)
	s := open(t, c.URL(c.Database(t)), pgtest.DB(t), clickhouse.Limits{})
	organization := uuid.New()
	var writers sync.WaitGroup
	for writer := range 8 {
		writers.Go(func() {
			of := blocks.Series{Organization: organization, Kind: "host", Subject: fmt.Sprint(writer)}
			for range 50 {
				if err := s.Put(t.Context(), nil, blocks.Minutes, []blocks.Block{{Series: of, Start: blockstest.Hour, Body: []byte("x")}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
}
