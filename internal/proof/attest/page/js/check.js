// The check: the same steps under the same names, in the same order, with the same outcomes
// as internal/proof/attest and internal/proof/attest/offline. A test holds the two together.

const postgresEpoch = 946684800000000n;
const order = ["file", "event", "inclusion", "checkpoint", "attestation", "signature", "timestamp", "witness"];

const zeroes = (bytes) => bytes.every((b) => b === 0);

const minutes = 60_000_000n;
const skew = 24n * 60n * minutes; // times that are further apart are not true
const early = 10n * minutes; // a key may sign before it is published
const apart = (a, b) => (a > b ? a - b : b - a) > skew;

/** became says in a few words what became of a key; empty: it signs. */
function became({ to, revoked, reason }) {
  if (revoked !== null) return `revoked as of ${stamp(revoked)}${reason ? `: ${reason}` : ""}`;
  return to === null ? "" : `retired on ${stamp(to)}`;
}

const ending = (k) => (became(k.lifetime) ? ` (${became(k.lifetime)})` : "");

/** lived judges a signature by its key's lifetime. This page trusts no clock, so it cannot judge a key that ended. */
function lived(k, at, slack) {
  const { from, to } = k.lifetime;
  if (at < from - (slack > early ? slack : early))
    return ["broken", `The signed content is dated ${stamp(at)}, but key ${k.id} did not exist before ${stamp(from)}.`];
  if (to !== null && at > to + slack)
    return [
      "broken",
      `The signed content is dated ${stamp(at)}, but key ${k.id} was retired on ${stamp(to)}.`,
    ];
  if (!became(k.lifetime)) return ["held", ""];
  return [
    "untold",
    `Key ${k.id} was ${became(k.lifetime)}. This page trusts no clock, so it cannot tell whether the key signed this before then; muster verify --offline uses time stamps and witnesses.`,
  ];
}

/** check checks a PDF with the proof in it, or with one that lies beside it (null: there is none); now is the time where it is checked, null where nobody looked. */
async function check(file, beside, keys, now = null) {
  const c = { steps: [], base: file, inside: null, signed: null, keys, now };
  c.say = (name, state, detail) => c.steps.push({ name, state, detail });
  c.companion = beside ? companionOf(beside, hex(await sha256(file))) : "";
  if (c.companion) c.say("signature", "not asked", "The file is not a PDF. The event names its digest.");
  else await takeApart(c, file);
  let proof = c.inside;
  if (beside) {
    if (proof && JSON.stringify(proof.report) !== JSON.stringify(beside.report))
      c.say("file", "broken", "The proof given with the file is about a different report than the proof in the file.");
    if (proof?.event.version && beside.event.version && proof.event.version !== beside.event.version)
      c.say("file", "broken", "The proof given with the file gives the event a different version than the proof in the file.");
    proof = beside;
  }
  if (!proof) {
    if (!c.steps.some((s) => s.state === "broken"))
      c.say("file", "untold", "There is no proof in the file, and none was given with it.");
    checkSignature(c, null);
    return answer(c, null);
  }
  const found = c.steps.splice(0); // of the file itself: behind what the proof says of it
  await checkFile(c, proof);
  const leaf = await checkEvent(c, proof);
  await checkInclusion(c, proof, leaf);
  await checkCheckpoint(c, proof);
  await checkAttestation(c, proof);
  c.steps.push(...found);
  checkSignature(c, proof);
  c.say("timestamp", "not asked", await stamps(c, proof));
  c.say(
    "witness",
    "not asked",
    "This page does not check witnesses; muster verify --offline --witnesses does.",
  );
  return answer(c, proof);
}

/** stamps says what time stamps there are. Whom to believe about time nobody has said, so they decide nothing. */
async function stamps(c, p) {
  const told = [];
  const { attestation: a, tree } = p;
  if (a.stamp) told.push(await toldOf("the report’s attestation", a.stamp, await sha256(a.signature)));
  if (p.stamp) told.push(await toldOf("the log’s tree", p.stamp, await sha256(utf8.encode(tree.text))));
  if (c.signed?.token) told.push(await toldOf("the PDF’s signature", c.signed.token, await sha256(c.signed.value)));
  if (told.length === 0) return "There is no time stamp.";
  return `${told.join(" ")} To check whose clock that is, use muster verify --offline --tsa-ca or openssl ts -verify.`;
}

/** takeApart separates what was built from what was appended, and checks the signature. */
async function takeApart(c, file) {
  let revisions;
  try {
    revisions = split(file);
  } catch (e) {
    if (!(e instanceof Fault)) throw e;
    if (e.fault === "notPDF") c.say("signature", "untold", "The file is not a PDF.");
    else if (e.fault === "noUpdate") c.say("signature", "not asked", "The PDF has no signature.");
    else if (e.fault === "rewritten")
      c.say("signature", "broken", `The file was changed after Muster built it: ${e.message}.`);
    else c.say("signature", "broken", `The file was changed after it was signed: ${e.message}.`);
    if (e.fault !== "afterSignature") return;
    revisions = e.revisions;
  }
  c.base = revisions.base;
  try {
    c.inside = readProof(new TextDecoder("utf-8", { ignoreBOM: true }).decode(fromLatin(revisions.proof)), true);
  } catch (e) {
    if (!(e instanceof Malformed)) throw e;
  }
  const s = await verifySignature(revisions, c.keys.pdf);
  if (s.fault === "untrusted")
    c.say("signature", "untold", `None of the given keys signed the PDF: ${s.reason}.`);
  else if (s.fault) c.say("signature", "broken", `The PDF's signature is not valid: ${s.reason}.`);
  else c.signed = s;
}

/** checkSignature judges a signature that holds: when it was made, by its own word, against the event, and its key's lifetime. */
function checkSignature(c, p) {
  const s = c.signed;
  if (!s) return;
  let [state, why] = p ? lived(s.key, s.at, skew) : ["held", ""];
  if (p && apart(s.at, p.event.recorded))
    [state, why] = [
      "broken",
      `The report says that it was recorded on ${stamp(p.event.recorded)}, but the PDF's signature gives the time ${stamp(s.at)}: one of the two is wrong.`,
    ];
  if (state === "held")
    why = `${s.name} signed the whole PDF, on ${stamp(s.at)} by its own clock.`;
  c.say("signature", state, why);
}

/** companionOf is what the proof's event calls the file with this digest that goes with the PDF; empty: it is none. */
function companionOf(p, digest) {
  let says;
  try {
    says = parse(p.event.data, "event");
  } catch {
    return "";
  }
  if (says.inputsSha256 === digest) return "inputs.json";
  const file = Array.isArray(says.files) ? says.files.find((f) => f?.sha256 === digest) : null;
  return typeof file?.name === "string" ? file.name : "";
}

async function checkFile(c, p) {
  const found = hex(await sha256(c.base));
  if (companionOf(p, found)) {
    c.say("file", "held", `The file is ${companionOf(p, found)} of the report, SHA-256 ${found}.`);
    return;
  }
  if (found !== p.report.pdf)
    c.say(
      "file",
      "broken",
      `The file is not the one that the proof names, or it was changed: its SHA-256 is ${found}, and the report's is ${p.report.pdf}.`,
    );
  else c.say("file", "held", `The file is the report as it was built, SHA-256 ${found}.`);
}

/** checkEvent computes the event's digest and hash again, and returns what the tree has of it. */
async function checkEvent(c, p) {
  const e = p.event;
  const measuredText = (t) => measured(utf8.encode(t));
  const digest = await sha256(
    utf8.encode("muster event 1"),
    measuredText(e.log),
    fromUUID(e.organization),
    measuredText(e.streamType),
    fromUUID(e.stream),
    measuredText(e.type),
    u64(e.schemaVersion),
    u64(e.occurred),
    measuredText(e.data),
    measuredText(e.metadata),
  );
  const hash = hex(await sha256(e.previous, digest, u64(e.recorded - postgresEpoch)));
  let says = null;
  try {
    says = parse(e.data, "event");
  } catch {
    says = null;
  }
  if (!says || e.type !== "report.ready")
    c.say("event", "broken", "The event does not say that a report is ready.");
  else if (e.stream !== p.report.id || e.organization !== p.report.organization)
    c.say("event", "broken", "The event is about another report.");
  else if (says.pdfSha256 !== p.report.written[1] || says.inputsSha256 !== p.report.written[2])
    c.say("event", "broken", "The event names another PDF or other inputs.");
  else if (hash !== e.writtenHash)
    c.say("event", "broken", "The event's hash does not match its content and the time of its record.");
  else if (apart(e.recorded, e.occurred))
    c.say(
      "event",
      "broken",
      `The event says that it was recorded on ${stamp(e.recorded)} and happened on ${stamp(e.occurred)}: one of the two is wrong.`,
    );
  else if (c.now !== null && e.recorded - c.now > skew)
    c.say(
      "event",
      "broken",
      `The event says that it was recorded on ${stamp(e.recorded)}, which is in the future: it is now ${stamp(c.now)}.`,
    );
  else
    c.say(
      "event",
      "held",
      `Event ${e.log}:${e.position}, recorded ${stamp(e.recorded)}, names this PDF and its inputs.`,
    );
  return concat(digest, u64(e.recorded));
}

/** rootOf is the root of a tree of so many leaves, by the leaf at an index and its inclusion proof (RFC 6962); null where the proof has another length. */
async function rootOf(path, low, high, index, leaf) {
  if (high - low === 1) return path.length === 0 ? leaf : null;
  if (path.length === 0) return null;
  let half = 1;
  while (half * 2 < high - low) half *= 2;
  const [rest, sibling] = [path.slice(0, -1), path[path.length - 1]];
  const left = index < low + half;
  const found = await (left ? rootOf(rest, low, low + half, index, leaf) : rootOf(rest, low + half, high, index, leaf));
  if (!found) return null;
  return left ? sha256(Uint8Array.of(1), found, sibling) : sha256(Uint8Array.of(1), sibling, found);
}

async function checkInclusion(c, p, leaf) {
  const { position } = p.event;
  const { size, root } = p.tree;
  const fits =
    position >= 1 &&
    position <= size &&
    (await rootOf(p.inclusion, 0, size, position - 1, await sha256(Uint8Array.of(0), leaf)));
  if (!fits || !same(fits, root)) c.say("inclusion", "broken", `The event is not in the log's tree of ${size} events.`);
  else c.say("inclusion", "held", `The event is number ${position} in the log's tree of ${size} events.`);
}

async function checkCheckpoint(c, p) {
  const { origin, size } = p.tree;
  if (origin !== p.origin || !origin.endsWith(`/${p.event.log}`)) {
    c.say("checkpoint", "broken", `The checkpoint belongs to ${origin}, but the event belongs to another log.`);
    return;
  }
  const by = await openNote(
    p.checkpoint,
    c.keys.log.filter((k) => k.name === origin),
  );
  if (by === "unknown")
    c.say("checkpoint", "untold", `None of the given keys signed the log's tree (${origin}).`);
  else if (by === "broken")
    c.say("checkpoint", "broken", "The log's tree was changed after it was signed, or its signature was changed.");
  else {
    // After a rotation there are two signatures, of which one is enough.
    const all = by.map((k) => {
      const [state, why] = lived(k, p.event.recorded, 0n);
      const held = `The log's tree of ${size} events is signed by key ${k.hash} of ${origin}${ending(k)}.`;
      return [state, state === "held" ? held : why];
    });
    const best = ["held", "untold", "broken"].map((s) => all.find(([state]) => state === s)).find((one) => one);
    c.say("checkpoint", ...best);
  }
}

async function checkAttestation(c, p) {
  const { report: r, event: e, attestation: a } = p;
  const head = `${e.log}:${e.position}:${e.hash}`;
  const statement = utf8.encode(
    `muster-report-1\nreport ${r.id}\nkind ${r.kind}\norganization ${r.organization}\nscope ${r.written[0]}\npdf ${r.written[1]}\ninputs ${r.written[2]}\nhead ${head}\n`,
  );
  for (const k of c.keys.report)
    if (a.signature.length === 64 && !zeroes(a.signature) && (await holds(k.key, a.signature, statement))) {
      const [state, why] = lived(k, e.recorded, 0n);
      const held = `Report, organization, scope, PDF, inputs and ${head} are signed by key ${k.id}${ending(k)}.`;
      c.say("attestation", state, state === "held" ? held : why);
      return;
    }
  if (c.keys.report.some((k) => k.id === a.keyId))
    c.say("attestation", "broken", `Key ${a.keyId} signed a different statement about the report.`);
  else
    c.say(
      "attestation",
      "untold",
      `Key ${a.keyId} is named as the signer of the report, but is not among the given keys.`,
    );
}

/** answer is what all steps come to. */
function answer(c, p) {
  const steps = [...c.steps].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  const off = steps.find((s) => s.state === "broken") ?? steps.find((s) => s.state === "untold");
  const verdict = !off ? "holds" : off.state === "broken" ? "contradicted" : "cannot tell";
  const sentence = {
    holds: () =>
      `This is ${c.companion ? `${c.companion} of ` : ""}${p.report.kind} report ${p.report.id} as it was built, recorded on ${stamp(p.event.recorded)}.`,
    contradicted: () => `This is not what it claims to be. ${off.detail}`,
    "cannot tell": () => `The given files are not enough to tell. ${off.detail}`,
  }[verdict]();
  return { verdict, sentence, steps, proof: p };
}
