package accounts

import "testing"

// The token that GitHub published with its format.
func TestTheChecksumMatchesGitHubsFormat(t *testing.T) {
	t.Parallel()
	if got := checksum("zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ"); got != "0mLq17" {
		t.Errorf("checksum %s, want 0mLq17", got)
	}
}
