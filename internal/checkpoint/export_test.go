package checkpoint

// WithSteps is the verifier with shorter steps.
func (v *Verifier) WithSteps(events int64) *Verifier {
	v.least = events
	return v
}
