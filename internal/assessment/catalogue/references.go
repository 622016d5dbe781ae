package catalogue

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Sources of a reference.
const (
	SourceCIS    = "CIS"
	SourceSTIG   = "STIG"
	SourcePCI    = "PCI DSS"
	SourceISO    = "ISO 27001"
	SourceVendor = "vendor"
)

// Reference is where a check comes from, as a reader follows it: nothing of it is
// empty.
type Reference struct {
	Source  string
	Version string // the title and edition of the text
	ID      string // the place in it
	URL     string // of the place, or of the text where places have none
}

// edition is a text that was consulted. Checks refer to a place in it by its key.
type edition struct {
	source, version string
	url             string // with %s, the place
}

// editions are all texts that checks may refer to. doc.go says from where each is known.
var editions = map[string]edition{
	"cis-pg17":      {SourceCIS, "CIS PostgreSQL 17 Benchmark 1.1.0", "https://www.cisecurity.org/cis-benchmarks"},
	"cis-ms19":      {SourceCIS, "CIS Microsoft SQL Server 2019 Benchmark 1.0.0", "https://www.cisecurity.org/cis-benchmarks"},
	"cis-oracle19":  {SourceCIS, "CIS Oracle Database 19c Benchmark 1.0.0", "https://www.cisecurity.org/cis-benchmarks"},
	"stig-pg":       {SourceSTIG, "DISA STIG Crunchy Data PostgreSQL V3R1", "https://public.cyber.mil/stigs/"},
	"stig-ms22":     {SourceSTIG, "DISA STIG Microsoft SQL Server 2022 Instance V1R4", "https://public.cyber.mil/stigs/"},
	"stig-oracle12": {SourceSTIG, "DISA STIG Oracle Database 12c V1R12", "https://public.cyber.mil/stigs/"},
	"pci":           {SourcePCI, "PCI DSS 4.0.1", "https://www.pcisecuritystandards.org/document_library/"},
	"iso":           {SourceISO, "ISO/IEC 27001:2022 Annex A", "https://www.iso.org/standard/27001"},
	"pg-docs":       {SourceVendor, "PostgreSQL 15 documentation", "https://www.postgresql.org/docs/15/%s.html"},
	"pg-cve":        {SourceVendor, "PostgreSQL security advisories", "https://www.postgresql.org/support/security/%s/"},
	"ms-docs":       {SourceVendor, "SQL Server 2022 documentation", "https://learn.microsoft.com/en-us/sql/%s?view=sql-server-ver16"},
	"oracle-refrn":  {SourceVendor, "Oracle Database 19c Reference", "https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/%s.html"},
}

// Cited are a check's references, read.
func (c Check) Cited() []Reference {
	out := make([]Reference, 0, len(c.References))
	for _, text := range c.References {
		if r, ok := cited(text); ok {
			out = append(out, r)
		}
	}
	return out
}

// cited reads "cis-pg17 5.3", a place in an edition; ok is false if there is no such edition.
func cited(text string) (r Reference, ok bool) {
	key, id, _ := strings.Cut(text, " ")
	e, known := editions[key]
	if !known || id == "" || strings.ContainsAny(id, " ,;") {
		return Reference{}, false
	}
	r = Reference{Source: e.source, Version: e.version, ID: id, URL: e.url}
	if strings.Contains(e.url, "%s") {
		r.URL, r.ID = fmt.Sprintf(e.url, id), path.Base(id)
	}
	if u, err := url.Parse(r.URL); err != nil || u.Scheme != "https" {
		return Reference{}, false
	}
	return r, true
}

// printed is a reference as documents have it: by the page if a vendor has it on a page of its
// own, otherwise by the edition and the place in it.
func (r Reference) printed() string {
	if r.Source == SourceVendor {
		return r.URL
	}
	return r.Version + ", " + r.ID
}
