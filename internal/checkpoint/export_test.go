package checkpoint

// WithSteps is the verifier with shorter steps.
func (v *Verifier) WithSteps(events int64) *Verifier {
	v.least = events
	return v
}

// StepOf is how many events a step of a log has.
func (v *Verifier) StepOf(events int64, late bool) int64 { return v.stepOf(events, late) }
