package typeset

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// language is that of all documents (BCP 47).
const language = "en"

// packet is what Info says once more, as XMP (ISO 16684-1): for programs that index
// files without reading PDF's own dictionary.
func (d *Paper) packet(info Info) []byte {
	text := func(s string) string {
		var out bytes.Buffer
		_ = xml.EscapeText(&out, []byte(d.Fonts.Clean(s))) // a buffer takes all
		return out.String()
	}
	at := info.Created.UTC().Format(time.RFC3339)
	return fmt.Appendf(nil, `<?xpacket begin="%s" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">
<dc:format>application/pdf</dc:format>
<dc:language><rdf:Bag><rdf:li>%s</rdf:li></rdf:Bag></dc:language>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">%s</rdf:li></rdf:Alt></dc:title>
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">%s</rdf:li></rdf:Alt></dc:description>
<dc:creator><rdf:Seq><rdf:li>%s</rdf:li></rdf:Seq></dc:creator>
<pdf:Keywords>%s</pdf:Keywords>
<pdf:Producer>%s</pdf:Producer>
<xmp:CreatorTool>%s</xmp:CreatorTool>
<xmp:CreateDate>%s</xmp:CreateDate>
<xmp:ModifyDate>%s</xmp:ModifyDate>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="r"?>`, "\uFEFF", language, text(info.Title), text(info.Subject), text(info.Author), text(info.Keywords), producer, text(info.Creator), at, at)
}

// catalogEntries are what gofpdf has no call for. It writes the packet in front of the
// dictionary of information and that in front of the catalog, which is the last object:
// %d is the packet's number.
const catalogEntries = "/Lang (" + language + ")\n/Metadata %d 0 R\n/ViewerPreferences << /DisplayDocTitle true >>\n"

// version is that of PDF which has all that is written: gofpdf says 1.3 of itself, and
// language and packet are of 1.4.
const version = "%PDF-1.7"

// catalogued puts entries into the catalog of a PDF on its way to w. gofpdf hands its
// whole buffer over in one piece; what it wrote stays where it is, but for the table of
// references behind the catalog, which moves and is found by startxref.
type catalogued struct {
	w       io.Writer
	entries string
}

var errNoCatalog = errors.New("the catalog is not where gofpdf 1.16.2 writes it")

func (c *catalogued) Write(p []byte) (int, error) {
	const head, foot = "\n<<\n/Type /Catalog\n", "\nstartxref\n"
	catalog, table := bytes.LastIndex(p, []byte(head)), bytes.LastIndex(p, []byte(foot))
	if catalog < 0 || table < catalog || !bytes.HasPrefix(p, []byte("%PDF-1.")) {
		return 0, errNoCatalog
	}
	number, _, ok := bytes.Cut(p[bytes.LastIndexByte(p[:catalog], '\n')+1:catalog], []byte(" 0 obj"))
	object, err := strconv.Atoi(string(number))
	if err != nil || !ok {
		return 0, errNoCatalog
	}
	offset, rest, _ := bytes.Cut(p[table+len(foot):], []byte("\n"))
	at, err := strconv.Atoi(string(offset))
	if err != nil {
		return 0, errNoCatalog
	}
	entries := fmt.Sprintf(c.entries, object-2)
	in := catalog + len(head)
	for _, part := range [][]byte{[]byte(version), p[len(version):in], []byte(entries), p[in : table+len(foot)], strconv.AppendInt(nil, int64(at+len(entries)), 10), []byte("\n"), rest} {
		if _, err := c.w.Write(part); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}
