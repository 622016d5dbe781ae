package clickhouse_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/blocks/blockstest"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/testing/pgtest"
)

// TestAFullDisk is a server that is away for what is put, as it says itself. What it has
// acknowledged it has, and shows meanwhile.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	server, data := clickhousetest.OnASmallDisk(t, "6m")
	s := open(t, server.URL("muster"), pgtest.DB(t), clickhouse.Limits{})
	host := blocks.Series{Organization: uuid.New(), Kind: codec.Hosts, Subject: "host"}
	put(t, s, blocks.Minutes, blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte("before")})
	ballast := filepath.Join(data, "ballast")
	f, err := os.Create(ballast)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	_ = f.Close()
	full := blocks.Block{Series: host, Start: blockstest.Hour, Body: []byte(strings.Repeat("full", 100))}
	err = s.Put(t.Context(), nil, blocks.Minutes, []blocks.Block{full})
	isAway(t, err, server.Addr())
	if text := err.Error(); !strings.Contains(text, "space") && !strings.Contains(text, "annot write") {
		t.Errorf("it does not say that its disk is full: %s", text)
	}
	if all, err := bodiesOf(t.Context(), s, host); err != nil || !slices.Equal(all, []string{"0 before"}) {
		t.Errorf("with a full disk: %v, %v", all, err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	full.Body = []byte("after")
	put(t, s, blocks.Minutes, full)
	if all, err := bodiesOf(t.Context(), s, host); err != nil || !slices.Equal(all, []string{"0 after"}) {
		t.Errorf("when there is room again: %v, %v", all, err)
	}
}
