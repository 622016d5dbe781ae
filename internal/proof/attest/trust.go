package attest

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"muster/internal/text/uniquekeys"
)

// trustV1 names the layout of a trust file.
const trustV1 = "muster-trust-1"

// TrustFile is all that a check rests on, in one document.
type TrustFile struct {
	Format          string   `json:"format"`
	Keys            []Key    `json:"keys"`
	TSACertificates string   `json:"tsaCertificates"` // PEM; empty: no time stamp is asked for
	Witnesses       []string `json:"witnesses"`       // verifier keys
	WitnessesNeeded int      `json:"witnessesNeeded"` // how many of them have to have signed
}

// Encode writes a trust file.
func (f TrustFile) Encode() ([]byte, error) {
	f.Format = trustV1
	if f.Witnesses == nil {
		f.Witnesses = []string{}
	}
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	to.SetIndent("", "  ")
	if err := to.Encode(f); err != nil {
		return nil, fmt.Errorf("encode the trust file: %w", err)
	}
	_, err := ParseTrust(out.Bytes())
	return out.Bytes(), err
}

// ParseTrust reads a trust file. Errors: *MalformedError, which names all that is wrong.
func ParseTrust(document []byte) (Trust, error) {
	malformed := func(err error) (Trust, error) { return Trust{}, &MalformedError{"trust", err.Error()} }
	if err := uniquekeys.Check(document); err != nil {
		return malformed(err)
	}
	var f TrustFile
	strict := json.NewDecoder(bytes.NewReader(document))
	strict.DisallowUnknownFields() // a requirement of a later version must not be ignored silently
	if err := strict.Decode(&f); err != nil {
		return malformed(err)
	}
	if f.Format != trustV1 {
		return malformed(fmt.Errorf("format %q is not %q", f.Format, trustV1))
	}
	var t Trust
	var wrong []error
	keys, err := json.Marshal(Keys{Keys: f.Keys})
	if err == nil {
		t.Keys, err = ParseKeys(keys)
	}
	if err != nil {
		wrong = append(wrong, fmt.Errorf("/keys: %w", err))
	}
	if f.TSACertificates != "" {
		t.TSA = x509.NewCertPool()
		if !t.TSA.AppendCertsFromPEM([]byte(f.TSACertificates)) {
			wrong = append(wrong, errors.New("/tsaCertificates: there is no certificate in PEM"))
		}
	}
	for i, w := range f.Witnesses {
		if _, err := parseWitness(strings.Fields(w)); err != nil {
			wrong = append(wrong, fmt.Errorf("/witnesses/%d: %w", i, err))
		}
	}
	if len(wrong) == 0 && len(f.Witnesses) > 0 {
		t.Witnesses, err = ParseWitnesses([]byte(strings.Join(f.Witnesses, "\n")))
		wrong = append(wrong, err)
	}
	if t.Needed = f.WitnessesNeeded; t.Needed < 0 || t.Needed > len(f.Witnesses) || t.Needed == 0 && len(f.Witnesses) > 0 {
		wrong = append(wrong, fmt.Errorf("/witnessesNeeded: %d of %d witnesses", f.WitnessesNeeded, len(f.Witnesses)))
	}
	if err := errors.Join(wrong...); err != nil {
		return malformed(errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
	return t, nil
}
