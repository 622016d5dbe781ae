package inventory

import (
	"testing"

	"muster/internal/report/pdf/blocks"
)

// TestFault54CategoriesHaveNoColorOfASeverity: credentials are no critical finding.
func TestFault54CategoriesHaveNoColorOfASeverity(t *testing.T) {
	t.Parallel()
	for severity, color := range blocks.SeverityColor {
		for i, category := range categoryColors {
			if category == color {
				t.Errorf("category %d has the color of %s", i+1, severity)
			}
		}
	}
}
