package servers_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/servers"
	"muster/internal/servers/tdstest"
)

// browser is SQL Server Browser on a port of its own. It answers with what says returns, after it was asked so often.
func browser(t *testing.T, after int32, says func() string) (port uint16, asked *atomic.Int32) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	asked = new(atomic.Int32)
	go func() {
		question := make([]byte, 100)
		for {
			n, from, err := conn.ReadFrom(question)
			if err != nil {
				return
			}
			if string(question[:n]) != "\x04SQL2\x00" {
				t.Errorf("asked %q", question[:n])
			}
			if text := says(); asked.Add(1) >= after && text != "" {
				_, _ = conn.WriteTo(append([]byte{5, byte(len(text)), byte(len(text) >> 8)}, text...), from)
			}
		}
	}()
	return uint16(conn.LocalAddr().(*net.UDPAddr).Port), asked
}

// TestF5ANamedInstanceIsFoundByItsBrowser, also where its port changed at a restart, and where a question is lost.
func TestF5ANamedInstanceIsFoundByItsBrowser(t *testing.T) {
	t.Parallel()
	known, config := authority(t, "db01.example.com")
	stubs := []*tdstest.Server{tdstest.Start(t, tdstest.Options{TLS: config}), tdstest.Start(t, tdstest.Options{TLS: config})}
	var restarts atomic.Int32
	port, asked := browser(t, 2, func() string {
		return fmt.Sprintf("ServerName;DB01;InstanceName;sql2;IsClustered;No;Version;15.0.2000.5;np;\\\\DB01\\pipe\\sql\\query;tcp;%d;;", stubs[restarts.Load()].Addr().Port)
	})
	reach := &servers.Reach{Browser: port, Authorities: known}
	named := strings.Replace(stubs[0].DSN(""), stubs[0].Address(), "127.0.0.1/SQL2", 1)
	target, err := reach.Target(fleet.SQLServer, named)
	if err != nil || target.Address() != `127.0.0.1\SQL2` {
		t.Fatal(target.Address(), err)
	}
	for n := range stubs {
		restarts.Store(int32(n))
		s, err := target.Open(t.Context(), "", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		s.Close(t.Context())
	}
	before := asked.Load()
	if before < 3 { // a slow machine asks more often
		t.Errorf("asked %d times", before)
	}
	outside := &servers.Reach{Browser: port, Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	target, err = outside.Target(fleet.SQLServer, "sqlserver://sa:secret@127.0.0.1/SQL2")
	if err != nil {
		t.Fatal(err)
	}
	_, err = target.Open(t.Context(), "", time.Minute)
	unreachedBy(t, err, servers.ClassNotAllowed, "MUSTER_TARGET_NETWORKS")
	if asked.Load() != before {
		t.Error("a network that is not allowed was asked")
	}
}

// TestF5NoBrowserAnswers in any of the ways in which none does: the sentence names the port that has to be open.
func TestF5NoBrowserAnswers(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"silence": "", "another instance": "ServerName;DB01;InstanceName;SQL1;tcp;1433;;", "no TCP": "ServerName;DB01;InstanceName;SQL2;np;x;;",
		"no port": "InstanceName;SQL2;tcp;0;;", "nonsense": ";;;;\x00\xff", "a port before the name": "tcp;1433;InstanceName;SQL2;;",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port, _ := browser(t, 0, func() string { return text })
			target, err := (&servers.Reach{Browser: port}).Target(fleet.SQLServer, "sqlserver://sa:secret@127.0.0.1/SQL2")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			_, err = target.Open(ctx, "", time.Minute)
			unreachedBy(t, err, servers.ClassRefused, `SQL Server Browser (UDP port 1434) did not say where 127.0.0.1\SQL2 listens`)
		})
	}
	nobody, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	_ = nobody.Close()
	target, err := (&servers.Reach{Browser: uint16(nobody.LocalAddr().(*net.UDPAddr).Port)}).Target(fleet.SQLServer, "sqlserver://sa:secret@127.0.0.1/SQL2")
	if err != nil {
		t.Fatal(err)
	}
	_, err = target.Open(t.Context(), "", time.Minute)
	unreachedBy(t, err, servers.ClassRefused, "SQL Server Browser (UDP port 1434) did not say")
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
