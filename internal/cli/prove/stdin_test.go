package prove

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// TestVerifyReadsStandardInput: what comes through a pipe has the file's digest.
func TestVerifyReadsStandardInput(t *testing.T) {
	t.Parallel()
	const content = "%PDF-1.7"
	read := read1("-", strings.NewReader(content))
	if read.err != nil || read.digest() != fmt.Sprintf("%x", sha256.Sum256([]byte(content))) {
		t.Errorf("got %s, %v", read.digest(), read.err)
	}
}
