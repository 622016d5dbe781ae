package pdf

import (
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// The palette: ink on paper, one accent, and the severities, which never speak
// by colour alone.
const (
	ink      typeset.Color = 0x1B2430
	muted    typeset.Color = 0x5A6675
	hairline typeset.Color = 0xD5DBE2
	wash     typeset.Color = 0xF5F7F9
	accent   typeset.Color = 0x1D4E79
	good     typeset.Color = 0x2E7D4F
	caution  typeset.Color = 0x9A6B00
	white    typeset.Color = 0xFFFFFF
)

var severityColor = map[string]typeset.Color{
	analysis.Critical: 0x9B1B30,
	analysis.High:     0xCC5A1B,
	analysis.Medium:   0xC79A1E,
	analysis.Low:      0x5B86B0,
}

// The typographic scale, in points.
var (
	titleStyle   = typeset.Style{Face: typeset.Bold, Size: 27, Color: ink}
	orgStyle     = typeset.Style{Face: typeset.Regular, Size: 14, Color: muted}
	verdictStyle = typeset.Style{Face: typeset.Regular, Size: 12.5, Color: ink}
	h1Style      = typeset.Style{Face: typeset.Bold, Size: 16, Color: ink}
	h2Style      = typeset.Style{Face: typeset.Bold, Size: 11, Color: ink}
	bodyStyle    = typeset.Style{Face: typeset.Regular, Size: 9.5, Color: ink}
	strongStyle  = typeset.Style{Face: typeset.Bold, Size: 9.5, Color: ink}
	mutedStyle   = typeset.Style{Face: typeset.Regular, Size: 9.5, Color: muted}
	smallStyle   = typeset.Style{Face: typeset.Regular, Size: 8, Color: muted}
	labelStyle   = typeset.Style{Face: typeset.Bold, Size: 7, Color: muted}
	cellStyle    = typeset.Style{Face: typeset.Regular, Size: 8, Color: ink}
	cellStrong   = typeset.Style{Face: typeset.Bold, Size: 8, Color: ink}
	cellMuted    = typeset.Style{Face: typeset.Regular, Size: 8, Color: muted}
	codeStyle    = typeset.Style{Face: typeset.Mono, Size: 7.5, Color: ink}
	codeMuted    = typeset.Style{Face: typeset.Mono, Size: 7.2, Color: muted}
	figureStyle  = typeset.Style{Face: typeset.Bold, Size: 21, Color: ink}
)

const leading = 1.42

var tableLook = typeset.Look{
	Head:     typeset.Style{Face: typeset.Bold, Size: 7.2, Color: muted},
	Body:     cellStyle,
	Note:     smallStyle,
	HeadRule: 0x8A96A3,
	RowRule:  hairline,
	Zebra:    wash,
	Leading:  1.32,
	PadX:     4,
	PadY:     3,
}

var pageMargin = typeset.Margin{Left: 54, Right: 54, Top: 74, Bottom: 66}
