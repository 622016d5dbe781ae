package usecase_test

import (
	"fmt"
	"strings"
	"testing"

	"muster/commands/usecase"
)

// TestARefusalNamesAThousandItems at most, as every other answer about a call's items does: ten
// thousand of them are an answer of more than a megabyte.
func TestARefusalNamesAThousandItems(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "may not write #/hosts/0:", 2: "may not write 2 items", 999: "999 items", 10_000: "at least 1000 items"} {
		pointers := make([]string, n)
		for i := range pointers {
			pointers[i] = fmt.Sprintf("#/hosts/%d", i)
		}
		if e := usecase.OutsideLimit(pointers); len(e.Fields) != min(n, 1000) || !strings.Contains(e.Detail, want) {
			t.Errorf("%d items: %d are named, %q", n, len(e.Fields), e.Detail)
		}
	}
}
