package attest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

// Witness is somebody else who signs the checkpoints of logs whose growth they have seen
// (C2SP tlog-witness).
type Witness struct {
	note.Verifier
	URL *url.URL // nil where only their signatures are to be checked
}

// ParseWitnesses reads a file of witnesses, one a line: the verifier key, and the URL after
// it. Empty lines and those after # say nothing. Errors name each line that is wrong.
func ParseWitnesses(file []byte) ([]Witness, error) {
	var all []Witness
	var wrong []error
	lines := bufio.NewScanner(bytes.NewReader(file))
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		w, err := parseWitness(fields)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %w", n, err))
			continue
		}
		all = append(all, w)
	}
	return all, errors.Join(append(wrong, lines.Err())...)
}

func parseWitness(fields []string) (w Witness, err error) {
	if len(fields) > 2 {
		return w, errors.New("wanted a verifier key and a URL")
	}
	if w.Verifier, err = cosignature.NewVerifierForCosignatureV1(fields[0]); err != nil {
		return w, fmt.Errorf("%q is no verifier key: %w", fields[0], err)
	}
	if len(fields) == 2 {
		w.URL, err = url.Parse(fields[1])
		if err != nil || w.URL.Host == "" || w.URL.Scheme != "http" && w.URL.Scheme != "https" {
			return w, fmt.Errorf("%q is no http or https URL", fields[1])
		}
	}
	return w, nil
}

// Cosigned says whether a witness has signed a checkpoint, and when by its clock.
func Cosigned(checkpoint string, witness note.Verifier) (at time.Time, ok bool) {
	opened, err := note.Open([]byte(checkpoint), note.VerifierList(witness))
	if err != nil || len(opened.Sigs) == 0 {
		return time.Time{}, false
	}
	at, err = cosignature.CoSigV1Timestamp(opened.Sigs[0])
	return at.UTC(), err == nil
}
