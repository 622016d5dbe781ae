package blobs

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// Prefix is what the names of all files of reports start with.
const Prefix = "reports/"

const (
	pdfSuffix    = ".pdf"
	inputsSuffix = ".json.zst"
)

// PDFName names the PDF that the holder of fence builds.
func PDFName(organization, report uuid.UUID, fence int64) string {
	return fmt.Sprintf("%s%s/%s/%d%s", Prefix, organization, report, fence, pdfSuffix)
}

// InputsName names the inputs document that the holder of fence gathers.
func InputsName(organization, report uuid.UUID, fence int64) string {
	return fmt.Sprintf("%s%s/%s/%d%s", Prefix, organization, report, fence, inputsSuffix)
}

// ParseName says which report a file belongs to; ok is false for a file that
// was not named here. Temporary files belong to the report of the final one.
func ParseName(name string) (organization, report uuid.UUID, ok bool) {
	rest, found := strings.CutPrefix(name, Prefix)
	parts := strings.Split(rest, "/")
	if !found || len(parts) != 3 {
		return uuid.Nil, uuid.Nil, false
	}
	organization, err := uuid.Parse(parts[0])
	if err != nil {
		return uuid.Nil, uuid.Nil, false
	}
	report, err = uuid.Parse(parts[1])
	if err != nil {
		return uuid.Nil, uuid.Nil, false
	}
	return organization, report, true
}
