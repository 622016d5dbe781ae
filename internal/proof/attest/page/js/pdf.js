// Taking a signed PDF apart, as internal/proof/pades does: not by reading the update as PDF, where
// two readers may see two things, but by writing it again from the five values that do not
// follow from the base, and wanting the same bytes.

class Fault extends Error {
  constructor(fault, reason, revisions) {
    super(reason);
    this.fault = fault; // notPDF, noUpdate, rewritten, afterSignature, malformed
    this.revisions = revisions; // of afterSignature
  }
}

const marker = "%muster-signed-1\n";
const endOfFile = "%%EOF\n";
const endOfObject = "\nendobj\n";
const noFiles = "/Names <<\n/EmbeddedFiles << /Names [\n  \n] >>\n>>\n>>";
const resources = "\n/Resources 2 0 R\n";
const entryLength = 20;
const rangesWidth = "[0 0000000000 0000000000 0000000000]".length;
/** mostUpdate bounds an update: a proof has a megabyte at most, and a signature 64 KiB. */
const mostUpdate = 4 << 20;

/** trailer is how a file of Muster's renderer ends. */
const trailer =
  /trailer\n<<\n\/Size ([1-9]\d{0,6})\n\/Root ([1-9]\d{0,6}) 0 R\n\/Info ([1-9]\d{0,6}) 0 R\n>>\nstartxref\n([1-9]\d{0,9})\n%%EOF\n$/;

const notMusters = (reason) => new Fault("malformed", reason);

/** find is the offset of a text in bytes, -1 where there is none. */
function find(bytes, text, from = 0) {
  const wanted = fromLatin(text);
  for (let at = bytes.indexOf(wanted[0], from); at >= 0; at = bytes.indexOf(wanted[0], at + 1)) {
    let n = 1;
    while (n < wanted.length && bytes[at + n] === wanted[n]) n++;
    if (n === wanted.length) return at;
  }
  return -1;
}

/** readBase finds the catalog and the last page of a file of Muster's renderer. */
function readBase(file) {
  const from = Math.max(0, file.length - 200);
  const m = trailer.exec(latin(file.subarray(from)));
  if (!m || !latin(file.subarray(0, 7)).startsWith("%PDF-1."))
    throw notMusters("no trailer of the renderer at its end");
  const [size, root, info, table] = m.slice(1).map(Number);
  const head = `xref\n0 ${size}\n`;
  if (
    table + head.length + size * entryLength !== from + m.index ||
    latin(file.subarray(table, table + head.length)) !== head
  )
    throw notMusters("the table of references does not end where the trailer begins");
  const object = (number) => {
    const missing = notMusters(`object ${number} is not where the table has it`);
    if (number >= size) throw missing;
    const entry = table + head.length + number * entryLength;
    const digits = latin(file.subarray(entry, entry + 10));
    const at = Number(digits);
    if (!/^\d{10}$/.test(digits) || at >= table) throw missing;
    const end = find(file.subarray(0, table), endOfObject, at);
    const text = end < 0 ? "" : latin(file.subarray(at, end + endOfObject.length));
    if (!text.startsWith(`${number} 0 obj\n`)) throw missing;
    return text;
  };
  const catalog = object(root);
  if (!catalog.endsWith(noFiles + endOfObject))
    throw notMusters("the catalog does not end with an empty list of embedded files");
  const kids = /^1 0 obj\n<<\/Type \/Pages\n\/Kids \[(?:[1-9]\d{0,6} 0 R )*([1-9]\d{0,6}) 0 R \]\n/.exec(object(1));
  if (!kids) throw notMusters("object 1 is not the list of pages");
  const page = Number(kids[1]);
  const last = object(page);
  if (!last.includes(resources)) throw notMusters("the last page has no resources");
  return { length: file.length, size, root, info, table, page, catalog, last };
}

/** layOut writes the update for a base, in one character a byte. */
function layOut(b, v) {
  const [file, spec, field, signature] = [b.size, b.size + 1, b.size + 2, b.size + 3];
  const at = {};
  let text = marker;
  const object = (number, content) => {
    at[number] = b.length + text.length;
    text += content;
  };
  const name = "proof.json";
  object(
    file,
    `${file} 0 obj\n<</Type /EmbeddedFile /Subtype /application#2Fjson /Params <</Size ${v.proof.length} /CheckSum <${md5(fromLatin(v.proof))}> /ModDate (D:${v.at}Z)>> /Length ${v.proof.length}>>\nstream\n${v.proof}\nendstream\nendobj\n`,
  );
  object(
    spec,
    `${spec} 0 obj\n<</Type /Filespec /F (${name}) /UF (${name}) /Desc (How to check this report) /AFRelationship /Data /EF <</F ${file} 0 R /UF ${file} 0 R>>>>\nendobj\n`,
  );
  const catalog = b.catalog.slice(0, -(noFiles + endOfObject).length);
  object(
    b.root,
    `${catalog}/Names <</EmbeddedFiles <</Names [(${name}) ${spec} 0 R]>>>>\n/AF [${spec} 0 R]\n/AcroForm <</Fields [${field} 0 R] /SigFlags 3>>\n/Perms <</DocMDP ${signature} 0 R>>\n>>\nendobj\n`,
  );
  const cut = b.last.indexOf(resources);
  const [before, rest] = [b.last.slice(0, cut), b.last.slice(cut + resources.length)];
  const annotations = "/Annots [";
  object(
    b.page,
    rest.startsWith(annotations)
      ? `${before}${resources}/Annots [${field} 0 R ${rest.slice(annotations.length)}`
      : `${before}${resources}/Annots [${field} 0 R]\n${rest}`,
  );
  object(
    field,
    `${field} 0 obj\n<</Type /Annot /Subtype /Widget /FT /Sig /T (Muster) /F 132 /Rect [0 0 0 0] /P ${b.page} 0 R /V ${signature} 0 R>>\nendobj\n`,
  );
  object(
    signature,
    `${signature} 0 obj\n<</Type /Sig /Filter /Adobe.PPKLite /SubFilter /ETSI.CAdES.detached /M (D:${v.at}Z) /Name <${v.name}> /Reason <${v.reason}>\n/Reference [<</Type /SigRef /TransformMethod /DocMDP /TransformParams <</Type /TransformParams /P 1 /V /1.2>>>>]\n/ByteRange `,
  );
  const ranges = text.length;
  text += `${" ".repeat(rangesWidth)}\n/Contents `;
  const from = text.length;
  text += `<${"0".repeat(2 * v.room)}>`;
  const to = text.length;
  text += ">>\nendobj\n";
  const table = b.length + text.length;
  text += "xref\n";
  for (const number of [b.page, b.root, file, spec, field, signature])
    text += `${number} 1\n${String(at[number]).padStart(10, "0")} 00000 n \n`;
  text += `trailer\n<<\n/Size ${signature + 1}\n/Root ${b.root} 0 R\n/Info ${b.info} 0 R\n/Prev ${b.table}\n>>\nstartxref\n${table}\n${endOfFile}`;
  const four = `[0 ${b.length + from} ${b.length + to} ${text.length - to}]`;
  text = text.slice(0, ranges) + four + text.slice(ranges + four.length);
  return { text, from, to };
}

/** valuesOf finds in an update what does not follow from its base. */
function valuesOf(text) {
  let at = 0;
  const wrong = notMusters("the update lacks parts that Muster writes");
  const until = (end) => {
    const i = text.indexOf(end, at);
    if (i < 0) throw wrong;
    const found = text.slice(at, i);
    at = i + end.length;
    return found;
  };
  until("/Params <</Size ");
  const size = /^\d{1,10}/.exec(text.slice(at, at + 10));
  if (!size) throw wrong;
  until("/ModDate (D:");
  const when = until("Z)");
  until("stream\n");
  const proof = text.slice(at, at + Number(size[0]));
  at += Number(size[0]);
  until("/Name <");
  const name = until(">");
  until("/Reason <");
  const reason = until(">");
  until("/Contents <");
  const room = until(">").length / 2;
  const isHex = (s) => /^([0-9A-F]{4})*$/.test(s);
  if (!/^\d{14}$/.test(when) || !isHex(name) || !isHex(reason) || !Number.isInteger(room)) throw wrong;
  return { proof, at: when, name, reason, room };
}

/** printed says whether the XMP has the head of the log that each report prints. */
function printed(file) {
  const end = "</pdf:Keywords>";
  for (let at = find(file, end); at >= 0; at = find(file, end, at + 1)) {
    if (/ witness:[a-z]+:\d+:[0-9a-f]{64}$/.test(latin(file.subarray(Math.max(0, at - 200), at)))) return true;
  }
  return false;
}

/** rewritten says by what a file without an update of Muster's is one that another program wrote again (internal/proof/pades/rewritten.go); empty: by nothing. */
function rewritten(file) {
  const has = (text) => find(file, text) >= 0;
  const json = () => /\/Subtype\s*\/application#2[Ff]json/.test(latin(file));
  if (has("(proof.json)") || (has("/ETSI.CAdES.detached") && has("/EmbeddedFile") && json()))
    return "it has Muster's proof or signature outside the update that Muster writes";
  if (printed(file) && !trailer.test(latin(file.subarray(Math.max(0, file.length - 200)))))
    return "it has the log's head that a report prints, but does not end as Muster writes a report";
  return "";
}

/** split takes a file apart that Muster signed, and nothing else. It throws a Fault. */
function split(file) {
  if (latin(file.subarray(0, 5)) !== "%PDF-") {
    const at = latin(file.subarray(0, 1024)).indexOf("%PDF-");
    if (at > 0 && (rewritten(file) || printed(file))) throw new Fault("rewritten", `${at} bytes precede the PDF`);
    throw new Fault("notPDF", "it does not begin with %PDF-");
  }
  const found = find(file, `\n${endOfFile}${marker}`);
  if (found < 0) {
    const reason = rewritten(file);
    throw reason ? new Fault("rewritten", reason) : new Fault("noUpdate", "it has no update from Muster");
  }
  const end = found + 1 + endOfFile.length;
  const text = latin(file.subarray(end, end + mostUpdate));
  const values = valuesOf(text);
  const made = layOut(readBase(file.subarray(0, end)), values);
  const here = text.slice(0, made.text.length);
  const outside = (t) => t.slice(0, made.from + 1) + t.slice(made.to - 1);
  if (here.length !== made.text.length || outside(here) !== outside(made.text))
    throw notMusters("the update is not as Muster writes it");
  const digits = here.slice(made.from + 1, made.to - 1);
  if (!/^[0-9a-f]*$/.test(digits)) throw notMusters("the signature is not in lower-case hexadecimal digits");
  const room = fromHex(digits);
  let signature;
  try {
    signature = der(room);
  } catch {
    throw notMusters("the signature is not DER");
  }
  if (room.subarray(signature.end).some((b) => b !== 0))
    throw notMusters("other bytes follow the signature in its reserved space");
  const whole = end + made.text.length;
  const revisions = {
    base: file.subarray(0, end),
    proof: values.proof,
    cms: signature.whole,
    at: values.at,
    covered: [file.subarray(0, end + made.from), file.subarray(end + made.to, whole)],
  };
  if (whole < file.length)
    throw new Fault("afterSignature", `${file.length - whole} bytes follow the signed update`, revisions);
  return revisions;
}

/** signerOf reads the one form of CMS that Muster writes: one signer, over data elsewhere. */
function signerOf(cms) {
  const wrong = new Malformed("no CMS of one signer over data that are elsewhere");
  const [type, content, ...behind] = members(only(cms, 0x30, "CMS"));
  if (!isOID(type, "signedData") || content?.tag !== 0xa0 || behind.length > 0) throw wrong;
  const [, , inside, certificates, signers, ...more] = members(only(content.content, 0x30, "CMS"));
  const infos = signers?.tag === 0x31 ? members(signers) : [];
  if (
    !inside ||
    !same(inside.whole, encode(0x30, oid("data"))) ||
    certificates?.tag !== 0xa0 ||
    infos.length !== 1 ||
    more.length > 0
  )
    throw wrong;
  const [, by, digest, signed, algorithm, value, unsigned, ...rest] = members(infos[0]);
  const [issuer, serial] = by ? members(by) : [];
  if (!serial || !isOID(members(digest)[0], "sha256") || signed?.tag !== 0xa0 || value?.tag !== 0x04 || rest.length > 0)
    throw wrong;
  let token = null;
  if (unsigned) {
    const attributes = unsigned.tag === 0xa1 ? members(unsigned) : [];
    const [id, values] = attributes.length === 1 ? members(attributes[0]) : [];
    const tokens = isOID(id, "timeStamp") && values?.tag === 0x31 ? members(values) : [];
    if (tokens.length !== 1) throw wrong;
    token = tokens[0].whole;
  }
  return {
    issuer: issuer.whole,
    serial: serial.content,
    attributes: concat(Uint8Array.of(0x31), signed.whole.subarray(1)),
    algorithm: members(algorithm)[0],
    value: value.content,
    token,
  };
}

/** attributesOf are the signed attributes over content of a digest: they follow from it and the certificate. */
async function attributesOf(raw, digest) {
  const one = (name, value) => encode(0x30, oid(name), encode(0x31, value));
  const bound = encode(0x30, encode(0x30, encode(0x30, encode(0x04, await sha256(raw)))));
  const all = [one("contentType", oid("data")), one("messageDigest", encode(0x04, digest)), one("certificate", bound)];
  all.sort((a, b) => (hex(a) < hex(b) ? -1 : 1)); // a SET in DER is in order
  return encode(0x31, ...all);
}

/** verifySignature holds a PDF's signature to the bytes that it covers. It answers who signed, or why it does not hold. */
async function verifySignature(revisions, trusted) {
  let signer;
  try {
    signer = signerOf(revisions.cms);
  } catch (e) {
    return { fault: "notASignature", reason: e.message };
  }
  let answer = {
    fault: "untrusted",
    reason: `the certificate with number ${hex(signer.serial)} is not among the ${trusted.length} trusted ones`,
  };
  for (const c of trusted) {
    if (!same(signer.serial, c.serial) || !same(signer.issuer, c.issuer)) continue;
    answer = await signedBy(c, signer, revisions);
    if (!answer.fault) break;
  }
  return answer;
}

async function signedBy(c, signer, revisions) {
  const key = await publicKey(c.spki);
  if (!isOID(signer.algorithm, key.kind === "RSA" ? "rsa" : "ecdsaWithSHA256") || key.kind === "Ed25519")
    return { fault: "notASignature", reason: "the algorithm is not that of the certificate's key" };
  let good = false;
  try {
    good = await holds(key, signer.value, signer.attributes);
  } catch {
    good = false;
  }
  if (!good) return { fault: "forged", reason: `it was not made with the key of ${c.name}` };
  if (!same(signer.attributes, await attributesOf(c.raw, await sha256(...revisions.covered))))
    return { fault: "altered", reason: `the file is not the one that was signed with the key of ${c.name}` };
  const t = revisions.at;
  const at = Date.UTC(
    +t.slice(0, 4),
    +t.slice(4, 6) - 1,
    +t.slice(6, 8),
    +t.slice(8, 10),
    +t.slice(10, 12),
    +t.slice(12),
  );
  if (at < c.from || at > c.to)
    return { fault: "outsideTerm", reason: "it was signed when the certificate was not valid" };
  return { key: c, name: c.name, at: BigInt(at) * 1000n, value: signer.value, token: signer.token };
}
