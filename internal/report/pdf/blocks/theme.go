package blocks

import (
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// The palette: ink on paper, one accent, and the severities, which never speak
// by colour alone.
const (
	Ink      typeset.Color = 0x1B2430
	Muted    typeset.Color = 0x5A6675
	Hairline typeset.Color = 0xD5DBE2
	Wash     typeset.Color = 0xF5F7F9
	Accent   typeset.Color = 0x1D4E79
	Good     typeset.Color = 0x2E7D4F
	Caution  typeset.Color = 0x7D5700
	White    typeset.Color = 0xFFFFFF
)

// SeverityColor has the color of each severity.
var SeverityColor = map[string]typeset.Color{
	analysis.Critical: 0x9B1B30,
	analysis.High:     0xB0440C,
	analysis.Medium:   0x7F5F00,
	analysis.Low:      0x3D6690,
}

// SeverityTint is the ground of a cell of each severity, with Ink upon it, of Critical White. They darken with the
// severity, so that the order is kept in gray print.
var SeverityTint = map[string]typeset.Color{
	analysis.Critical: 0x9B1B30,
	analysis.High:     0xF0B48C,
	analysis.Medium:   0xF8E6B4,
	analysis.Low:      0xDCE8F2,
}

// LookedTint is the ground of what was looked at without a finding.
const LookedTint typeset.Color = 0xEDF3EF

// The typographic scale, in points.
var (
	titleStyle   = typeset.Style{Face: typeset.Bold, Size: 27, Color: Ink}
	kindStyle    = typeset.Style{Face: typeset.Bold, Size: 9, Color: Accent}
	orgStyle     = typeset.Style{Face: typeset.Regular, Size: 14, Color: Muted}
	verdictStyle = typeset.Style{Face: typeset.Regular, Size: 12.5, Color: Ink}
	h1Style      = typeset.Style{Face: typeset.Bold, Size: 16, Color: Ink}
	H2Style      = typeset.Style{Face: typeset.Bold, Size: 11.5, Color: Ink}
	BodyStyle    = typeset.Style{Face: typeset.Regular, Size: 10, Color: Ink}
	StrongStyle  = typeset.Style{Face: typeset.Bold, Size: 10, Color: Ink}
	MutedStyle   = typeset.Style{Face: typeset.Regular, Size: 10, Color: Muted}
	SmallStyle   = typeset.Style{Face: typeset.Regular, Size: 8, Color: Muted}
	labelStyle   = typeset.Style{Face: typeset.Bold, Size: 8, Color: Muted}
	CellStyle    = typeset.Style{Face: typeset.Regular, Size: 9, Color: Ink}
	CellStrong   = typeset.Style{Face: typeset.Bold, Size: 9, Color: Ink}
	CellMuted    = typeset.Style{Face: typeset.Regular, Size: 9, Color: Muted}
	CodeStyle    = typeset.Style{Face: typeset.Mono, Size: 8.2, Color: Ink}
	CodeMuted    = typeset.Style{Face: typeset.Mono, Size: 8, Color: Muted}
	figureStyle  = typeset.Style{Face: typeset.Bold, Size: 21, Color: Ink}
)

// OverdueWash is the ground of what is overdue.
const OverdueWash typeset.Color = 0xF0D3D8

// OverdueStyle is the type of what is overdue.
var OverdueStyle = typeset.Style{Face: typeset.Bold, Size: 9, Color: 0x9B1B30}

// Leading is the line height of body text, in its size.
const Leading = 1.3

var tableLook = typeset.Look{
	Head:     typeset.Style{Face: typeset.Bold, Size: 8.5, Color: Muted},
	Body:     CellStyle,
	Note:     SmallStyle,
	HeadRule: 0x8A96A3,
	RowRule:  Hairline,
	Zebra:    Wash,
	Leading:  1.22,
	PadX:     3,
	PadY:     2,
}

// PageMargin is the margin of every page, in points.
var PageMargin = typeset.Margin{Left: 46, Right: 46, Top: 56, Bottom: 46}
