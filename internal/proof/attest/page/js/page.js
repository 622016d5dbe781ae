// What a person sees. Text of files goes into text nodes only.

const mostPDF = 256 << 20;
const mostJSON = 4 << 20;

const words = {
  file: "The file is the report",
  event: "The log says so",
  inclusion: "The log has the entry",
  checkpoint: "The installation signed its log",
  attestation: "The installation signed the report",
  signature: "The PDF’s own signature",
  timestamp: "Time stamps",
  witness: "Witnesses",
};
const marks = {
  held: ["✓", "holds: "],
  broken: ["✗", "does not hold: "],
  untold: ["?", "cannot tell: "],
  "not asked": ["–", "not checked: "],
};
const verdicts = {
  holds: ["holds", "It holds"],
  contradicted: ["contradicted", "It does not hold"],
  "cannot tell": ["open", "Cannot tell"],
};

/** el makes an element; its children are elements, or text that stays text. */
function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const given = { pdfs: [], proof: null, keys: null, refused: [] };

/** take reads one file and says by its content what it is. */
async function take(file) {
  const head = latin(new Uint8Array(await file.slice(0, 5).arrayBuffer()));
  if (file.size > (head === "%PDF-" ? mostPDF : mostJSON)) throw new Malformed("it is too large");
  if (head === "%PDF-") {
    given.pdfs.push({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
    return;
  }
  const content = await file.text();
  let value = null;
  try {
    value = JSON.parse(content);
  } catch {
    value = null;
  }
  if (value && typeof value === "object" && "keys" in value && !("format" in value))
    given.keys = { name: file.name, read: await readKeys(content) };
  else if (value && typeof value === "object" && String(value.format).startsWith("muster-proof-"))
    given.proof = { name: file.name, read: readProof(content) };
  else given.pdfs.push({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }); // a table, an inputs document, or no file of ours
}

/** reasonOf is why something could not be done, in a sentence. */
function reasonOf(e) {
  if (e instanceof Malformed || e instanceof Fault) return e.message;
  return "this browser cannot do it";
}

async function takeAll(files) {
  given.refused = [];
  if (files.some((f) => f.name.toLowerCase().endsWith(".pdf"))) given.pdfs = [];
  for (const file of files) {
    try {
      await take(file);
    } catch (e) {
      given.refused.push({ name: file.name, why: reasonOf(e) });
    }
  }
}

function showTaken() {
  const item = (kind, name) => el("li", {}, el("span", { class: "kind" }, `${kind}: `), name);
  document
    .getElementById("taken")
    .replaceChildren(
      ...given.pdfs.map((f) => item("report", f.name)),
      ...(given.keys ? [item("keys", given.keys.name)] : []),
      ...(given.proof ? [item("proof", given.proof.name)] : []),
      ...given.refused.map((f) => item("not taken", `${f.name} (${f.why})`)),
    );
}

/** open is an answer that needs no steps. */
const open = (detail, steps = []) => ({ verdict: "cannot tell", sentence: detail, steps, proof: null });

async function judge(file) {
  if (!(await hasEd25519()))
    return open(
      "This browser cannot check Ed25519 signatures. A newer one can: Chrome or Edge from 137, Firefox from 129, Safari from 17.",
    );
  if (!given.keys) return open("The installation’s public keys are missing. Add muster-keys.json.");
  try {
    return await check(file.bytes, given.proof?.read ?? null, given.keys.read, BigInt(Date.now()) * 1000n);
  } catch (e) {
    return open(`It could not be checked: ${reasonOf(e)}.`);
  }
}

let ed25519;

/** hasEd25519 tries the browser with a key that is known. */
function hasEd25519() {
  ed25519 ??= crypto.subtle
    .importKey(
      "spki",
      fromHex("302a300506032b6570032100d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"),
      "Ed25519",
      false,
      ["verify"],
    )
    .then(
      () => true,
      () => false,
    );
  return ed25519;
}

let turn = 0;
let before = Promise.resolve();

/** hand takes files after those that were handed before, and shows what they come to. */
function hand(files) {
  const mine = ++turn;
  document.getElementById("results").setAttribute("aria-busy", "true");
  before = before.then(() => takeAll(files)).then(() => show(mine));
  return before;
}

async function show(mine) {
  showTaken();
  if (mine !== turn) return; // more files came meanwhile
  const results = document.getElementById("results");
  const articles = [];
  for (const file of given.pdfs) {
    const begun = performance.now();
    const said = await judge(file);
    articles.push(article(file.name, said, performance.now() - begun));
  }
  if (mine !== turn) return;
  if (articles.length === 0 && (given.keys || given.proof)) articles.push(el("p", {}, "Now add the report, a PDF."));
  results.replaceChildren(...articles);
  results.setAttribute("aria-busy", "false");
}

function article(name, said, took) {
  const [className, title] = verdicts[said.verdict];
  const made = el(
    "article",
    { class: className, "data-verdict": said.verdict, "data-took": took.toFixed(1) },
    el("h2", {}, title),
    el("p", { class: "sentence" }, said.sentence),
  );
  made.append(el("p", {}, el("code", {}, name)));
  if (said.steps.length > 0)
    made.append(el("h3", {}, "Step by step"), el("ul", { class: "steps" }, ...said.steps.map(step)));
  if (said.proof)
    made.append(el("h3", {}, said.verdict === "holds" ? "Report" : "Claims of the file"), claims(said.proof));
  return made;
}

function step(s) {
  const [mark, spoken] = marks[s.state];
  return el(
    "li",
    { class: s.state, "data-step": s.name, "data-state": s.state },
    el("span", { class: "mark", "aria-hidden": "true" }, mark),
    el(
      "div",
      {},
      el("div", { class: "what" }, el("span", { class: "spoken" }, spoken), words[s.name]),
      el("div", { class: "detail" }, s.detail),
    ),
  );
}

/** claims is who, what and when, as the proof has it. */
function claims(p) {
  const e = parseOr(p.event.data);
  const rows = [
    ["Report", `${p.report.kind}, ${p.report.id}`],
    ["File name", e.fileName],
    ["Pages", e.pages],
    ["Data as of", e.asOf],
    ["Recorded", stamp(p.event.recorded)],
    ["Installation", p.origin.split("/")[1]],
    ["Organization", p.report.organization],
    ["Entry", `${p.event.log}:${p.event.position}:${p.event.hash}`],
    ["SHA-256", p.report.pdf],
    ["Inputs", p.report.inputs],
    [
      "Renderer",
      typeof e.renderer?.version === "string" ? `${e.renderer.version} ${e.renderer.commit ?? ""}` : undefined,
    ],
  ];
  const list = el("dl", {});
  for (const [name, value] of rows)
    if (typeof value === "string" || typeof value === "number")
      list.append(el("dt", {}, name), el("dd", {}, String(value)));
  return list;
}

function parseOr(data) {
  try {
    return parse(data, "event");
  } catch {
    return {};
  }
}

async function begin() {
  const embedded = document.querySelector('meta[name="muster-keys"]').content;
  if (embedded) {
    try {
      given.keys = {
        name: "those that came with this page",
        read: await readKeys(new TextDecoder().decode(fromLatin(atob(embedded)))),
      };
    } catch (e) {
      given.refused.push({ name: "the keys that came with this page", why: reasonOf(e) });
    }
  }
  const input = document.getElementById("files");
  input.addEventListener("change", () => {
    const files = [...input.files];
    input.value = ""; // the same file again is a change
    hand(files);
  });
  addEventListener("dragover", (e) => {
    e.preventDefault();
    document.body.classList.add("over");
  });
  addEventListener("dragleave", (e) => {
    if (!e.relatedTarget) document.body.classList.remove("over");
  });
  addEventListener("drop", (e) => {
    e.preventDefault();
    document.body.classList.remove("over");
    hand([...e.dataTransfer.files]);
  });
  await hand([]);
}

begin();
