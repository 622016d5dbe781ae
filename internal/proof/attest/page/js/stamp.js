// Time stamps (RFC 3161), as far as a page can tell: what time they say, whether they are over
// the right bytes, and whether the certificate in them signed them. Whose certificate that is
// nobody here knows, so a time stamp is told of and decides nothing.

Object.assign(oids, { tstInfo: "2a864886f70d0109100104", sha384: "608648016503040202", sha512: "608648016503040203" });

const hashes = { sha256: "SHA-256", sha384: "SHA-384", sha512: "SHA-512" };

/** hashOf is the digest that an AlgorithmIdentifier names. */
function hashOf(algorithm) {
  const [id] = members(algorithm);
  const name = Object.keys(hashes).find((h) => isOID(id, h));
  if (!name) throw new Malformed("a digest that this page does not know");
  return hashes[name];
}

const digestOf = async (hash, bytes) => new Uint8Array(await crypto.subtle.digest(hash, bytes));

/** readStamp reads a token over a digest. It answers when, by whom, and what does not fit; null where it fits. */
async function readStamp(token, digest) {
  const [type, content] = members(only(token, 0x30, "time stamp"));
  if (!isOID(type, "signedData") || content?.tag !== 0xa0) throw new Malformed("no time stamp");
  const parts = members(only(content.content, 0x30, "time stamp"));
  const [inside, wrapped] = members(parts[2]);
  if (!isOID(inside, "tstInfo") || wrapped?.tag !== 0xa0) throw new Malformed("no time stamp");
  const info = only(wrapped.content, 0x04, "time stamp").content;
  const [, , imprint, , when] = members(only(info, 0x30, "time stamp"));
  if (when?.tag !== 0x18) throw new Malformed("a time stamp without a time");
  const at = BigInt(instantOf({ tag: 0x18, content: fromLatin(latin(when.content).replace(/\.\d+Z$/, "Z")) })) * 1000n;
  const [algorithm, hashed] = members(imprint);
  const over = hashOf(algorithm) === "SHA-256" && same(hashed.content, digest);
  const chain = parts.filter((p) => p.tag === 0xa0).flatMap((set) => members(set).map((c) => certificate(c.whole)));
  const signers = parts.find((p) => p.tag === 0x31 && p !== parts[1]);
  const by = await stampedBy(members(signers)[0], info, chain);
  return {
    at,
    name: by?.name ?? "",
    off: !over ? "it is over something else" : by ? null : "its own certificate did not sign it",
  };
}

/** stampedBy is the certificate in the token that signed it; null: none did. */
async function stampedBy(signer, info, chain) {
  const [, sid, digest, signed, algorithm, value] = members(signer);
  if (signed?.tag !== 0xa0 || value?.tag !== 0x04) return null;
  const [issuer, serial] = members(sid);
  const c = chain.find((one) => serial && same(one.serial, serial.content) && same(one.issuer, issuer.whole));
  const named = members(signed).find((a) => isOID(members(a)[0], "messageDigest"));
  const hash = hashOf(digest);
  if (!c || !named || !same(members(members(named)[1])[0].content, await digestOf(hash, info))) return null;
  const key = await publicKey(c.spki, hash);
  if (
    key.kind === "Ed25519" ||
    (key.kind === "RSA") !== hex(members(algorithm)[0].content).startsWith("2a864886f70d0101")
  )
    return null;
  return (await holds(key, value.content, concat(Uint8Array.of(0x31), signed.whole.subarray(1)))) ? c : null;
}

/** toldOf says in a sentence what a time stamp of something is worth. */
async function toldOf(what, token, digest) {
  let s;
  try {
    s = await readStamp(token, digest);
  } catch {
    return `The time stamp of ${what} cannot be read here.`;
  }
  if (s.off) return `The time stamp of ${what} is not valid: ${s.off}.`;
  return `A time stamp says that ${what} existed on ${stamp(s.at)}, by the clock of ${s.name}, whose certificate signed it.`;
}
