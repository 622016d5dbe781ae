package telemetry_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"testing"
	"time"

	"muster/internal/process/telemetry"
)

func TestRemainingDaysOfCertificates(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	var none *telemetry.Certificates
	if none.Met("mail") != nil {
		t.Error("nobody notes a server")
	}
	var c telemetry.Certificates
	if left := c.Left(now); len(left) != 0 {
		t.Errorf("before any was met: %v", left)
	}
	met := c.Met("mail")
	show := func(until time.Time) {
		if err := met(tls.ConnectionState{PeerCertificates: []*x509.Certificate{{NotAfter: until}, {NotAfter: now}}}); err != nil {
			t.Error(err)
		}
	}
	show(now.Add(time.Minute))
	show(now.Add(time.Hour)) // a new one
	if err := met(tls.ConnectionState{}); err != nil {
		t.Error(err)
	}
	c.Know("pdf", now.Add(-time.Second))
	if got, want := fmt.Sprint(c.Left(now)), "[{[mail] 3600} {[pdf] -1}]"; got != want {
		t.Errorf("left are %s, want %s", got, want)
	}
}
