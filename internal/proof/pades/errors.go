package pades

import "fmt"

// BaseError reports a base that Sign does not know how to update.
type BaseError struct {
	Offset int // where it stops being what the renderer writes
	Reason string
}

func (e *BaseError) Error() string {
	return fmt.Sprintf("the PDF is not laid out as the renderer does, at byte %d: %s", e.Offset, e.Reason)
}

// KeyError reports a key or chain that cannot sign.
type KeyError struct{ Reason string }

func (e *KeyError) Error() string { return "the PDF cannot be signed: " + e.Reason }

// StampError reports that the signature got no time stamp. Nothing was made; without
// Update.Stamp the same update can be signed.
type StampError struct{ Cause error }

func (e *StampError) Error() string { return "time stamp for the PDF's signature: " + e.Cause.Error() }

func (e *StampError) Unwrap() error { return e.Cause }

// Fault is what is wrong with a file or its signature.
type Fault string

// What Split finds.
const (
	NotPDF         Fault = "not a PDF"
	NoUpdate       Fault = "no signed update"            // a base, or the file of another program
	AfterSignature Fault = "changed after it was signed" // another update follows ours
	NotCovered     Fault = "not covered as a whole"      // the signature is over other bytes
	Rewritten      Fault = "written again"               // another program took it apart and wrote it again
	Malformed      Fault = "malformed"                   // an update that is not as Sign writes it
)

// What Verify finds.
const (
	Altered       Fault = "altered"               // the bytes are not those that were signed
	Untrusted     Fault = "unknown certificate"   // signed, but by none of those that are trusted
	Forged        Fault = "false signature"       // not made with the certificate's key
	OutsideTerm   Fault = "outside of its term"   // signed before or after the certificate was valid
	NotASignature Fault = "not a PAdES signature" // what stands in its place is something else
)

// SplitError is why a file is not one that Sign made.
type SplitError struct {
	Fault  Fault
	Offset int // of the first byte that does not fit
	Reason string
}

func (e *SplitError) Error() string {
	return fmt.Sprintf("%s: %s (byte %d)", e.Fault, e.Reason, e.Offset)
}

// SignatureError is why the signature of a file does not hold.
type SignatureError struct {
	Fault  Fault
	Reason string
}

func (e *SignatureError) Error() string { return fmt.Sprintf("%s: %s", e.Fault, e.Reason) }
