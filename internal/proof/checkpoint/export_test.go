package checkpoint

import "context"

// WithSteps is the verifier with shorter steps.
func (v *Verifier) WithSteps(events int64) *Verifier {
	v.least = events
	return v
}

// KeepBeside keeps a checkpoint, as a process does that has read no file before.
func (m *Maker) KeepBeside(ctx context.Context, c Checkpoint) error { return m.keepBeside(ctx, c, nil) }

// StepOf is how many events a step of a log has.
func (v *Verifier) StepOf(events int64, late bool) int64 { return v.stepOf(events, late) }
