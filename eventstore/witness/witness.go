package witness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// defaultLog is the log of a witness that names none: the one whose head every
// report and mail carries.
const defaultLog = "reports"

// Format writes a head; hash is in hex.
func Format(log string, position int64, hash string) string {
	return log + ":" + strconv.FormatInt(position, 10) + ":" + hash
}

// FormatError reports text that is no witness.
type FormatError struct{ Reason string }

func (e *FormatError) Error() string { return "not a witness: " + e.Reason }

// Parse reads what Format wrote. Without a log it is one of "reports". White
// space is left out, because a narrow column breaks the hash. Errors:
// *FormatError.
func Parse(text string) (log string, position int64, hash []byte, err error) {
	parts := strings.Split(strings.Join(strings.Fields(text), ""), ":")
	if len(parts) == 2 {
		parts = append([]string{defaultLog}, parts...)
	}
	if len(parts) != 3 || parts[0] == "" {
		return "", 0, nil, &FormatError{Reason: "wanted log:position:hash"}
	}
	position, err = strconv.ParseInt(parts[1], 10, 64)
	if err != nil || position < 0 {
		return "", 0, nil, &FormatError{Reason: fmt.Sprintf("%q is no position", parts[1])}
	}
	hash, err = hex.DecodeString(parts[2])
	if err != nil || len(hash) != sha256.Size {
		return "", 0, nil, &FormatError{Reason: fmt.Sprintf("the hash has to be %d hexadecimal digits", 2*sha256.Size)}
	}
	return parts[0], position, hash, nil
}
