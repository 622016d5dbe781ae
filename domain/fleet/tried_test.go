package fleet_test

import (
	"testing"

	"muster/domain/fleet"
)

// TestVersionsNewerThanTried, C26.
func TestVersionsNewerThanTried(t *testing.T) {
	t.Parallel()
	const newer = "newer than the newest tried (18)"
	for version, want := range map[string]string{
		"19.0": newer, "19": newer, "19beta1": newer, "PostgreSQL 20.1 on x86_64-pc-linux-gnu": newer, "19.1 (Debian 19.1-1.pgdg120+1)": newer, "v19.0": newer, "190001": newer,
		"18.4": "", "18": "", "9.6": "", "150018": "", "": "", "unknown": "", "17.10 (Ubuntu 17.10-1)": "",
	} {
		if got := fleet.NewerThanTried(fleet.PostgreSQL, version); got != want {
			t.Errorf("%q: %q, want %q", version, got, want)
		}
	}
	if got := fleet.NewerThanTried(fleet.Oracle, "23.9"); got != "" {
		t.Errorf("of an engine that was never tried: %q", got)
	}
}
