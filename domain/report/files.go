package report

import "strings"

// The files of a report, as its address names them.
const (
	PDFFile       = "report.pdf"
	FindingsFile  = "findings.csv"
	InventoryFile = "inventory.csv"
	CVEsFile      = "cves.csv"
	AccountsFile  = "accounts.csv"
	AlertsFile    = "alerts.csv"
	DigestFile    = "digest.json"
	SLAFile       = "sla.csv"
	InputsFile    = "inputs.json"
	ProofFile     = "proof.json"
)

// MediaTypeCSV is the media type of companions, in UTF-8.
const MediaTypeCSV = "text/csv"

// MediaTypeJSON is that of companions that are objects.
const MediaTypeJSON = "application/json"

// MediaTypeOf is the media type of one of Companions.
func MediaTypeOf(name string) string {
	if strings.HasSuffix(name, ".json") {
		return MediaTypeJSON
	}
	return MediaTypeCSV
}

// Companions are the tables that a build makes beside the PDF; none for a kind that this
// program does not know.
func Companions(kind Kind) []string {
	d, err := Find(kind)
	if err != nil {
		return nil
	}
	return d.Companions
}

// File is a companion in the store.
type File struct {
	Name      string `json:"name"` // one of Companions
	Key       string `json:"key"`  // name in the blob store
	SizeBytes int64  `json:"sizeBytes"`
	SHA256    string `json:"sha256"` // hex
}

// Named is what a report calls its file with this SHA-256 (hex); empty: it has none.
func (r Ready) Named(sha256 string) string {
	switch sha256 {
	case r.PDFSHA256:
		return PDFFile
	case r.InputsSHA256:
		return InputsFile
	}
	for _, f := range r.Files {
		if f.SHA256 == sha256 {
			return f.Name
		}
	}
	return ""
}

// SavedAs is the name of a report's file after the download: the PDF's name in Ready, or for a
// companion that name with its own.
func SavedAs(pdf, file string) string {
	if file == PDFFile {
		return pdf
	}
	return strings.TrimSuffix(pdf, ".pdf") + "-" + file
}
