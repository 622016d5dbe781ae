package e2e

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestTheCertificateThatMusterCannotSee is asked for by the line of docs/operators.md.
func TestTheCertificateThatMusterCannotSee(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`(?m)^openssl s_client .*$`).FindString(readText(t, "docs/operators.md"))
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	proxy := newRelay(t, server.Listener.Addr().String())
	line = strings.ReplaceAll(line, "muster.example.org:443", proxy.address)
	for days, good := range map[int]bool{365: true, 15: true, 13: false, -1: false} {
		proxy.shows(t, time.Now().AddDate(0, 0, days))
		if said, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput(); (err == nil) != good {
			t.Errorf("of a certificate that ends in %d days, %s says %v\n%s", days, line, err, said)
		}
	}
}
