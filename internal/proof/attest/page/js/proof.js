// The documents that a check reads: an installation's keys, and a report's proof.

const mostKeys = 1000;
const mostProof = 1 << 20;

/** once refuses JSON in which an object has one name twice: other parsers take the other one. */
function once(text, what) {
  const open = [];
  for (const m of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
    if (m[0] === "{" || m[0] === "[") open.push(new Set());
    else if (m[0] === "}" || m[0] === "]") open.pop();
    else if (m[1] !== undefined) {
      const name = JSON.parse(m[0].slice(0, -m[1].length)).toUpperCase().toLowerCase();
      const names = open[open.length - 1];
      if (names.has(name)) throw new Malformed(`this is no ${what} document: ${name} is there twice`);
      names.add(name);
    }
  }
}

function parse(text, what) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Malformed(`this is no ${what} document: it is not JSON`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Malformed(`this is no ${what} document`);
  once(text, what);
  return value;
}

/** verifierKey reads a key of C2SP's signed notes: name+hash+key. */
async function verifierKey(text) {
  const m = typeof text === "string" && /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(text);
  const encoded = m ? fromBase64(m[3], "verifierKey") : [];
  if (!m || encoded.length !== 33 || encoded[0] !== 1)
    throw new Malformed("verifierKey is no Ed25519 key of a signed note");
  const hash = hex((await sha256(utf8.encode(`${m[1]}\n`), encoded)).subarray(0, 4));
  if (hash !== m[2]) throw new Malformed("verifierKey does not have its own hash");
  return { name: m[1], hash, raw: encoded.subarray(1) };
}

/** certificates are those of a PEM text, the key's own first. */
function certificates(pem) {
  const blocks =
    typeof pem === "string"
      ? [...pem.matchAll(/-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g)]
      : [];
  if (blocks.length === 0) throw new Malformed("certificate: the text contains none in PEM");
  return blocks.map((m) => certificate(fromBase64(m[1].replace(/\s/g, ""), "certificate")));
}

/** formed holds a key to its form, wherever it stands; what it claims is another matter. */
function formed(k) {
  if (typeof k !== "object" || k === null) throw new Malformed("it is no key");
  for (const name of ["id", "algorithm", "use", "verifierKey", "certificate", "reason"])
    if (k[name] != null && typeof k[name] !== "string") throw new Malformed(`${name} is no text`);
  micros(k.validFrom ?? "0001-01-01T00:00:00Z", "validFrom");
  if (k.validTo != null) micros(k.validTo, "validTo");
  if (k.revokedAt != null) micros(k.revokedAt, "revokedAt");
  return fromBase64(k.publicKey ?? "", "publicKey");
}

/** lifetime is from when to when a key signs, and since when somebody else may have it. */
function lifetime(k) {
  const time = (name) => (k[name] == null ? null : micros(k[name], name));
  return {
    from: micros(k.validFrom ?? "0001-01-01T00:00:00Z", "validFrom"),
    to: time("validTo"),
    revoked: time("revokedAt"),
    reason: k.reason ?? "",
  };
}

/** readKeys reads muster-keys.json and holds every key against what it claims to be. */
async function readKeys(text) {
  const { keys } = parse(text, "keys");
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > mostKeys)
    throw new Malformed("this is no keys document: it has no keys, or too many");
  const out = { log: [], report: [], pdf: [] };
  for (const k of keys) {
    try {
      const spki = formed(k);
      const key = await publicKey(spki);
      if (k.use === "log") {
        const named = await verifierKey(k.verifierKey);
        if (key.kind !== "Ed25519" || !same(named.raw, key.raw))
          throw new Malformed("verifierKey and publicKey are two keys");
        out.log.push({ id: k.id, key, lifetime: lifetime(k), ...named });
      } else if (k.use === "report") {
        if (key.kind !== "Ed25519") throw new Malformed("a report key is Ed25519");
        out.report.push({ id: k.id, key, lifetime: lifetime(k) });
      } else if (k.use === "pdf") {
        const [own] = certificates(k.certificate);
        if (!same(own.spki, spki)) throw new Malformed("certificate and publicKey are two keys");
        out.pdf.push({ ...own, id: k.id, lifetime: lifetime(k) });
      } else throw new Malformed("its use is unknown");
    } catch (e) {
      if (e instanceof Malformed)
        throw new Malformed(`this is no keys document: key ${JSON.stringify(k?.id ?? "")}: ${e.message}`);
      if (e.name === "NotSupportedError") throw e; // of the browser, not of the file
      throw new Malformed(
        `this is no keys document: key ${JSON.stringify(k?.id ?? "")} is none that this browser can read`,
      );
    }
  }
  return out;
}

function text(value, name) {
  if (typeof value !== "string") throw new Malformed(`this is no proof document: ${name} is no text`);
  return value;
}

function whole(value, name) {
  if (!Number.isSafeInteger(value)) throw new Malformed(`this is no proof document: ${name} is no number`);
  return value;
}

/** marked says whether an event is of since programs mark what they built. */
function marked(data) {
  try {
    return parse(data, "event").mark != null;
  } catch {
    return false;
  }
}

/** readProof reads proof.json, without checking what it claims. The bytes of one in a PDF are signed; in one that somebody brings, nothing covers a version. */
function readProof(document, signed = false) {
  if (document.length > mostProof)
    throw new Malformed(`this is no proof document: it has ${document.length} characters`);
  const p = parse(document, "proof");
  if (p.format !== "muster-proof-1")
    throw new Malformed('this is no proof document: its format is not "muster-proof-1"');
  const { report: r, event: e, attestation: a } = p;
  if (!r || !e || !a || !Array.isArray(p.inclusion ?? []))
    throw new Malformed("this is no proof document: report, event, attestation or inclusion are missing");
  if (!signed && e.version && marked(e.data))
    throw new Malformed("this is no proof document: event.version: no signature covers it");
  if (!Array.isArray(p.keys ?? [])) throw new Malformed("this is no proof document: keys are no list");
  (p.keys ?? []).forEach(formed); // for people, and never trusted
  return {
    origin: text(p.origin, "origin"),
    report: {
      id: hexUUID(r.id, "report.id"),
      kind: text(r.kind, "report.kind"),
      organization: hexUUID(r.organizationId, "report.organizationId"),
      scope: hex(sum(r.scopeSha256, "report.scopeSha256")),
      pdf: hex(sum(r.pdfSha256, "report.pdfSha256")),
      inputs: hex(sum(r.inputsSha256, "report.inputsSha256")),
      written: [r.scopeSha256, r.pdfSha256, r.inputsSha256],
    },
    event: {
      log: text(e.log, "event.log"),
      position: whole(e.position, "event.position"),
      previous: sum(e.previousHash, "event.previousHash"),
      hash: hex(sum(e.hash, "event.hash")),
      writtenHash: e.hash,
      organization: hexUUID(e.organizationId, "event.organizationId"),
      streamType: text(e.streamType, "event.streamType"),
      stream: hexUUID(e.streamId, "event.streamId"),
      version: e.version, // only in proofs of before
      type: text(e.type, "event.type"),
      schemaVersion: whole(e.schemaVersion, "event.schemaVersion"),
      occurred: micros(e.occurredAt, "event.occurredAt"),
      recorded: micros(e.recordedAt, "event.recordedAt"),
      data: text(e.data, "event.data"),
      metadata: text(e.metadata, "event.metadata"),
    },
    attestation: {
      keyId: text(a.keyId, "attestation.keyId"),
      signature: fromBase64(a.signature, "attestation.signature"),
      stamp: a.timestamp == null ? null : fromBase64(a.timestamp, "attestation.timestamp"),
    },
    inclusion: (p.inclusion ?? []).map((h) => {
      const hash = fromBase64(h, "inclusion");
      if (hash.length !== 32)
        throw new Malformed(`this is no proof document: inclusion: a hash has ${hash.length} bytes`);
      return hash;
    }),
    checkpoint: text(p.checkpoint, "checkpoint"),
    tree: readCheckpoint(text(p.checkpoint, "checkpoint")),
    stamp: p.checkpointTimestamp == null ? null : fromBase64(p.checkpointTimestamp, "checkpointTimestamp"),
  };
}

function hexUUID(value, name) {
  fromUUID(value, name);
  return value;
}

/** readCheckpoint reads a checkpoint (C2SP tlog-checkpoint), without checking its signatures. */
function readCheckpoint(note) {
  const cut = note.indexOf("\n\n");
  const body = note.slice(0, Math.max(cut, 0));
  const [origin, size, root] = body.split("\n");
  if (cut < 0 || !origin || root === undefined)
    throw new Malformed("checkpoint: wanted origin, size, root, an empty line and signatures");
  if (!/^(0|[1-9]\d*)$/.test(size) || !Number.isSafeInteger(Number(size))) throw new Malformed("checkpoint: no size");
  const hash = fromBase64(root, "checkpoint: the root");
  if (hash.length !== 32) throw new Malformed("checkpoint: no root");
  return { origin, size: Number(size), root: hash, text: `${body}\n` };
}

/** openNote says which of the keys signed a note: a list of whom, "unknown" where none of them did, or "broken". */
async function openNote(note, keys) {
  const cut = note.lastIndexOf("\n\n");
  if (/[\u0000-\u0009\u000b-\u001f]/.test(note) || cut < 0 || !note.endsWith("\n")) return "broken";
  const signed = utf8.encode(note.slice(0, cut + 1));
  const lines = note.slice(cut + 2, -1).split("\n");
  if (lines.length > 100) return "broken";
  const by = [];
  for (const line of lines) {
    const m = /^— ([^\s+]+) ([A-Za-z0-9+/]+=*)$/.exec(line);
    if (!m) return "broken";
    let signature;
    try {
      signature = fromBase64(m[2], "signature");
    } catch {
      return "broken";
    }
    if (signature.length < 5) return "broken";
    const hash = hex(signature.subarray(0, 4));
    const key = keys.find((k) => k.name === m[1] && k.hash === hash);
    if (!key) continue;
    if (!(await holds(key.key, signature.subarray(4), signed))) return "broken";
    by.push(key);
  }
  return by.length > 0 ? by : "unknown";
}
