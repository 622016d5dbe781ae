// Bytes, numbers and text. Everything that is read comes from a stranger: each reader below
// says what it takes, and throws Malformed for anything else.

class Malformed extends Error {}

const utf8 = new TextEncoder();

/** concat joins arrays of bytes. */
function concat(...parts) {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

function same(a, b) {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** latin is bytes as a string of one character each, so that offsets stay what they are. */
function latin(bytes) {
  let out = "";
  for (let at = 0; at < bytes.length; at += 0x8000) out += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return out;
}

function fromLatin(text) {
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}

function hex(bytes) {
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

function fromHex(text) {
  if (typeof text !== "string" || text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text))
    throw new Malformed("not in hexadecimal digits");
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

/** sum reads a SHA-256 in hex. */
function sum(text, name) {
  const bytes = fromHex(text);
  if (bytes.length !== 32) throw new Malformed(`${name} is no SHA-256 in hexadecimal digits`);
  return bytes;
}

function fromBase64(text, name) {
  if (typeof text !== "string" || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text))
    throw new Malformed(`${name} is not in base64`);
  return fromLatin(atob(text));
}

/** u64 is a number in eight bytes, the greatest first. */
function u64(n) {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setBigInt64(0, BigInt(n));
  return out;
}

/** measured is text behind its length, as digests have it. */
function measured(bytes) {
  return concat(u64(bytes.length), bytes);
}

function fromUUID(text, name) {
  if (typeof text !== "string" || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text))
    throw new Malformed(`${name} is no id`);
  return fromHex(text.replaceAll("-", ""));
}

/** micros is an RFC 3339 time in microseconds since 1970. */
function micros(text, name) {
  const m =
    typeof text === "string" &&
    /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))$/.exec(text);
  const seconds = m && Date.UTC(+m[1], +m[2] - 1, +m[3], +m[4], +m[5], +m[6]) / 1000;
  // A day that the calendar does not have would come back as another.
  if (!m || new Date(seconds * 1000).toISOString().slice(0, 19) !== text.slice(0, 19))
    throw new Malformed(`${name} is no time`);
  const away = m[8] ? (m[8] === "+" ? 60 : -60) * (60 * +m[9] + +m[10]) : 0;
  return BigInt(seconds - away) * 1000000n + BigInt((m[7] ?? "").padEnd(6, "0").slice(0, 6));
}

/** stamp is a time as people read it. */
function stamp(inMicros) {
  return `${new Date(Number(inMicros / 1000n)).toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** sha256 is the digest of all parts, one behind the other. */
async function sha256(...parts) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", parts.length === 1 ? parts[0] : concat(...parts)));
}
