package typeset

import (
	"bytes"
	"encoding/xml"
	"fmt"
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
