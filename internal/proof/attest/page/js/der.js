// DER, as far as keys, certificates and signatures need it: whole, without indefinite
// lengths, and with each length in its shortest form.

/** der reads one value at an offset; end is behind it. */
function der(bytes, at = 0, limit = bytes.length) {
  let i = at;
  const next = () => {
    if (i >= limit) throw new Malformed("DER ends early");
    return bytes[i++];
  };
  const tag = next();
  if ((tag & 0x1f) === 0x1f) throw new Malformed("a DER tag of several bytes");
  let length = next();
  if (length === 0x80 || length > 0x84) throw new Malformed("a DER length of no definite form");
  if (length > 0x80) {
    const digits = length - 0x80;
    length = 0;
    for (let n = 0; n < digits; n++) length = length * 256 + next();
    if (length < 0x80 || length < 256 ** (digits - 1)) throw new Malformed("a DER length that is not the shortest");
  }
  if (length > limit - i) throw new Malformed("DER ends early");
  return { tag, content: bytes.subarray(i, i + length), whole: bytes.subarray(at, i + length), end: i + length };
}

/** members are the values in another one. */
function members(value) {
  const out = [];
  for (let at = 0; at < value.content.length; ) {
    const one = der(value.content, at);
    out.push(one);
    at = one.end;
  }
  return out;
}

/** only reads bytes that are one value of a tag, and nothing behind it. */
function only(bytes, tag, what) {
  const value = der(bytes);
  if (value.tag !== tag || value.end !== bytes.length) throw new Malformed(`no ${what}`);
  return value;
}

/** encode writes a value. */
function encode(tag, ...parts) {
  const content = concat(...parts);
  const length = [];
  if (content.length < 0x80) length.push(content.length);
  else {
    for (let n = content.length; n > 0; n = Math.floor(n / 256)) length.unshift(n % 256);
    length.unshift(0x80 + length.length);
  }
  return concat(Uint8Array.of(tag, ...length), content);
}

const oids = {
  data: "2a864886f70d010701",
  signedData: "2a864886f70d010702",
  contentType: "2a864886f70d010903",
  messageDigest: "2a864886f70d010904",
  certificate: "2a864886f70d010910022f",
  timeStamp: "2a864886f70d010910020e",
  sha256: "608648016503040201",
  ecdsaWithSHA256: "2a8648ce3d040302",
  rsa: "2a864886f70d010101",
  ecdsa: "2a8648ce3d0201",
  ed25519: "2b6570",
  commonName: "550403",
};

const curves = { "2a8648ce3d030107": ["P-256", 32], "2b81040022": ["P-384", 48], "2b81040023": ["P-521", 66] };

const oid = (name) => encode(0x06, fromHex(oids[name]));
const isOID = (value, name) => value !== undefined && value.tag === 0x06 && hex(value.content) === oids[name];

/** publicKey imports a SubjectPublicKeyInfo, to check signatures over a hash. Its kind is Ed25519, ECDSA or RSA. */
async function publicKey(spki, hash = "SHA-256") {
  const [algorithm, bits, ...more] = members(only(spki, 0x30, "public key"));
  if (!algorithm || !bits || more.length > 0 || bits.tag !== 0x03) throw new Malformed("no public key");
  const [id, parameters] = members(algorithm);
  const imported = (how) => crypto.subtle.importKey("spki", spki, how, false, ["verify"]);
  if (isOID(id, "ed25519")) return { kind: "Ed25519", raw: bits.content.subarray(1), key: await imported("Ed25519") };
  const curve = isOID(id, "ecdsa") && parameters && curves[hex(parameters.content)];
  if (curve)
    return { kind: "ECDSA", hash, size: curve[1], key: await imported({ name: "ECDSA", namedCurve: curve[0] }) };
  if (isOID(id, "rsa")) return { kind: "RSA", key: await imported({ name: "RSASSA-PKCS1-v1_5", hash }) };
  throw new Malformed("a public key of a kind that signs nothing here");
}

/** holds says whether a key signed a text. */
async function holds(k, signature, text) {
  if (k.kind === "Ed25519") return crypto.subtle.verify("Ed25519", k.key, signature, text);
  if (k.kind === "RSA") return crypto.subtle.verify("RSASSA-PKCS1-v1_5", k.key, signature, text);
  // WebCrypto wants both numbers in full width, where DER has them in their shortest form.
  const numbers = members(only(signature, 0x30, "ECDSA signature"));
  if (numbers.length !== 2) return false;
  const wide = numbers.map((n) => {
    const digits = n.content[0] === 0 ? n.content.subarray(1) : n.content;
    if (n.tag !== 0x02 || digits.length > k.size) throw new Malformed("no ECDSA signature");
    return concat(new Uint8Array(k.size - digits.length), digits);
  });
  return crypto.subtle.verify({ name: "ECDSA", hash: k.hash }, k.key, concat(...wide), text);
}

/** certificate reads what of an X.509 certificate a check needs. */
function certificate(raw) {
  const [body] = members(only(raw, 0x30, "certificate"));
  const parts = body ? members(body) : [];
  if (parts[0]?.tag === 0xa0) parts.shift(); // version
  const [serial, , issuer, validity, subject, spki] = parts;
  if (!spki || serial.tag !== 0x02 || issuer.tag !== 0x30) throw new Malformed("no certificate");
  const [from, to] = members(validity).map(instantOf);
  let name = "";
  for (const set of members(subject))
    for (const pair of members(set)) {
      const [id, text] = members(pair);
      if (!text) throw new Malformed("a certificate with a name that is none");
      const written = nameOf(text);
      if (isOID(id, "commonName")) name = written;
    }
  return { raw, serial: serial.content, issuer: issuer.whole, from, to, name, spki: spki.whole };
}

/** nameOf is the text of an attribute of a name. */
function nameOf(value) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(value.content);
  } catch {
    throw new Malformed("a certificate with a name that is no text");
  }
}

/** instantOf is a UTCTime or GeneralizedTime in milliseconds. */
function instantOf(value) {
  let text = latin(value.content);
  if (value.tag === 0x17) text = (Number(text.slice(0, 2)) < 50 ? "20" : "19") + text;
  const m = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (!m) throw new Malformed("a certificate without a term");
  return Date.UTC(+m[1], +m[2] - 1, +m[3], +m[4], +m[5], +m[6]);
}
