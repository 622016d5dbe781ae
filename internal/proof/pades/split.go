package pades

import (
	"bytes"
	"encoding/asn1"
	"encoding/hex"
	"strconv"
	"time"
)

// Revisions is a signed file, taken apart. Its slices are parts of the file.
type Revisions struct {
	Base  []byte // as the renderer wrote it: its SHA-256 is the one in the log
	Proof []byte // the embedded proof.json
	CMS   []byte // the signature, DER
	// At is when it was signed, as the signature claims.
	At time.Time
	// Covered are the two ranges that the signature is over: all but the signature.
	Covered [2][]byte
}

// most digits that are read as a number.
const mostDigits = 10

// Split takes a file apart that Sign made, and nothing else; see the package for how.
// It says nothing about whether the signature holds: Verify does. Errors: *SplitError.
// With AfterSignature the revisions are those up to the end of the signed update.
func Split(file []byte) (Revisions, error) {
	if !bytes.HasPrefix(file, []byte("%PDF-")) {
		if reason := displaced(file); reason != "" {
			return Revisions{}, &SplitError{Rewritten, 0, reason}
		}
		return Revisions{}, &SplitError{NotPDF, 0, "it does not begin with %PDF-"}
	}
	end := bytes.Index(file, []byte("\n"+endOfFile+marker)) + 1
	if end == 0 {
		if reason := rewritten(file); reason != "" {
			return Revisions{}, &SplitError{Rewritten, len(file), reason}
		}
		return Revisions{}, &SplitError{NoUpdate, len(file), "it has no update from Muster"}
	}
	end += len(endOfFile)
	v, at, err := valuesOf(file[end:], end)
	if err != nil {
		return Revisions{}, err
	}
	b, err := readBase(file[:end])
	if err != nil {
		reason := err.(*BaseError) //nolint:errorlint // readBase returns no other
		return Revisions{}, &SplitError{Malformed, reason.Offset, reason.Reason}
	}
	made := b.layOut(v)
	if err := made.compare(file[end:], end); err != nil {
		return Revisions{}, err
	}
	whole := end + len(made.text)
	cms, err := unpad(file[made.from+1:made.to-1], made.from+1)
	if err != nil {
		return Revisions{}, err
	}
	r := Revisions{Base: file[:end:end], Proof: v.proof, CMS: cms, At: at, Covered: [2][]byte{file[:made.from:made.from], file[made.to:whole:whole]}}
	if whole < len(file) {
		return r, &SplitError{AfterSignature, whole, strconv.Itoa(len(file)-whole) + " bytes follow the signed update"}
	}
	return r, nil
}

// compare holds what is there to what Sign would have written. Only the signature's
// digits may differ.
func (u *update) compare(found []byte, end int) error {
	open, shut := u.from+1-end, u.to-1-end
	if n := same(found, u.text[:open]); n >= u.ranges && n < u.ranges+rangesWidth {
		return &SplitError{NotCovered, end + u.ranges, "the byte range is not " + string(bytes.TrimSpace(u.text[u.ranges:u.ranges+rangesWidth]))}
	} else if n < open {
		return &SplitError{Malformed, end + n, "the update is not as Muster writes it"}
	}
	if n := same(found[min(shut, len(found)):], u.text[shut:]); n < len(u.text)-shut {
		return &SplitError{Malformed, end + min(shut, len(found)) + n, "the update is not as Muster writes it"}
	}
	return nil
}

// same is how many bytes at the beginning are the same.
func same(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// valuesOf finds in an update what does not follow from its base. It may find nonsense,
// which compare then says. end is the update's offset.
func valuesOf(text []byte, end int) (v values, at time.Time, err error) {
	s := scanner{text: text}
	s.after("/Params <</Size ")
	size := s.number()
	s.after("/ModDate (D:")
	v.at = s.until("Z)")
	s.after("stream\n")
	v.proof = s.take(size)
	s.after("/Name <")
	v.name = s.until(">")
	s.after("/Reason <")
	v.reason = s.until(">")
	s.after("/Contents <")
	v.room = len(s.until(">")) / 2
	if !s.failed {
		at, err = time.Parse(dateLayout, v.at)
		s.failed = err != nil || !isHex(v.name) || !isHex(v.reason)
	}
	if s.failed {
		return values{}, time.Time{}, &SplitError{Malformed, end + s.at, "the update lacks parts that Muster writes"}
	}
	return v, at, nil
}

// scanner goes through a text once, and stands still where it fails.
type scanner struct {
	text   []byte
	at     int
	failed bool
}

// until is what comes before the next end, which it passes.
func (s *scanner) until(end string) string {
	i := -1
	if !s.failed {
		i = bytes.Index(s.text[s.at:], []byte(end))
	}
	if i < 0 {
		s.failed = true
		return ""
	}
	found := s.text[s.at : s.at+i]
	s.at += i + len(end)
	return string(found)
}

func (s *scanner) after(mark string) { s.until(mark) }

// number is that of the digits up to a space or an angle bracket.
func (s *scanner) number() int {
	digits := 0
	for s.at+digits < len(s.text) && digits < mostDigits && s.text[s.at+digits] >= '0' && s.text[s.at+digits] <= '9' {
		digits++
	}
	n, err := strconv.Atoi(string(s.text[s.at : s.at+digits]))
	if err != nil {
		s.failed = true
	}
	s.at += digits
	return n
}

func (s *scanner) take(n int) []byte {
	if s.failed || n > len(s.text)-s.at {
		s.failed = true
		return nil
	}
	found := s.text[s.at : s.at+n : s.at+n]
	s.at += n
	return found
}

// isHex says whether text is upper-case hexadecimal digits of UTF-16.
func isHex(s string) bool {
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'A' || r > 'F') {
			return false
		}
	}
	return len(s)%4 == 0
}

// unpad is the DER in a signature's room: lower-case digits, zeros behind it.
func unpad(digits []byte, at int) ([]byte, error) {
	der := make([]byte, hex.DecodedLen(len(digits)))
	if n, err := hex.Decode(der, digits); err != nil || bytes.ContainsAny(digits, "ABCDEF") {
		return nil, &SplitError{Malformed, at + 2*n, "the signature is not in lower-case hexadecimal digits"}
	}
	var value asn1.RawValue
	padding, err := asn1.Unmarshal(der, &value)
	if err != nil {
		return nil, &SplitError{Malformed, at, "the signature is not DER"}
	}
	if len(bytes.TrimLeft(padding, "\x00")) > 0 {
		return nil, &SplitError{Malformed, at + 2*len(value.FullBytes), "other bytes follow the signature in its reserved space"}
	}
	return value.FullBytes, nil
}
