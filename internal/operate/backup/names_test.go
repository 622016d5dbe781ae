package backup_test

import (
	"testing"

	"muster/internal/operate/backup"
)

// TestNamesThatAManifestMayList: the holder of a backup can sign a manifest, and must not be
// able to read or write other files on the machine that restores it.
func TestNamesThatAManifestMayList(t *testing.T) {
	t.Parallel()
	const id = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a55"
	for name, want := range map[string]bool{
		"database.dump": true,
		"secret.key":    true,
		"blobs/reports/" + id + "/" + id + "/7.pdf":           true,
		"blobs/reports/" + id + "/" + id + "/7.json.zst":      true,
		"blobs/reports/" + id + "/" + id + "/../../../../etc": false,
		"blobs/reports/" + id + "/" + id + "/..":              false,
		"blobs/reports/../" + id + "/7.pdf":                   false,
		"blobs/muster-store":                                  false,
		"/blobs/reports/" + id + "/" + id + "/7.pdf":          false,
		"reports/" + id + "/" + id + "/7.pdf":                 false,
		"../database.dump":                                    false,
		"/etc/passwd":                                         false,
		"manifest.json":                                       false,
		"":                                                    false,
	} {
		if got := backup.Expected(name); got != want {
			t.Errorf("%q is expected: %t, want %t", name, got, want)
		}
	}
}
