package attest

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

// Witness is another party that signs the checkpoints of logs whose growth it has seen (C2SP
// tlog-witness).
type Witness struct {
	note.Verifier
	URL *url.URL // nil where only their signatures are to be checked
}

// ParseWitnesses reads a file of witnesses, one on each line: the verifier key, and the URL
// after it. Empty lines and those after # are ignored. Errors name each wrong line. A file
// without a witness is an error: an emptied file would mean that no witness is asked.
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
	if len(all)+len(wrong) == 0 {
		wrong = append(wrong, errors.New("the file names no witness: wanted one a line, its verifier key and its URL"))
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

// cosignatureLength is that of C2SP's cosignature/v1: key hash, time and Ed25519 signature.
const cosignatureLength = 4 + 8 + 64

// CosignedBy is a checkpoint without the signatures of witnesses that are from after a
// time. A witness that was away for long says when it came back, not when there was
// something to see.
func CosignedBy(checkpoint string, end time.Time) string {
	text, signatures, _ := strings.Cut(checkpoint, "\n\n")
	var kept strings.Builder
	for line := range strings.Lines(signatures) {
		signature, err := base64.StdEncoding.DecodeString(strings.TrimSpace(line[strings.LastIndex(line, " ")+1:]))
		if err == nil && len(signature) == cosignatureLength && int64(binary.BigEndian.Uint64(signature[4:])) > end.Unix() { //nolint:gosec // a time
			continue
		}
		kept.WriteString(line)
	}
	return text + "\n\n" + kept.String()
}
