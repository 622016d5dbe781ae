// Writes NOTICES.md (make notices): what the program carries of others, and under which
// licences. Standard input has a line "module@version directory" for each Go module that
// is linked, and each font that lies here; npm packages are those that the pages import, and what these depend on.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

// These build the pages, or count who installs what they come with, and are not in them.
const builders = ["@scarf/scarf", "@vitejs/plugin-react", "postcss", "postcss-preset-mantine", "vite"];

const carried = readFileSync(0, "utf8").trim().split("\n").map((line) => {
  const [name, dir] = line.split(" ");
  return { name, dir };
});
const lock = JSON.parse(readFileSync("web/package-lock.json", "utf8")).packages;
const seen = new Set();
function add(name, within = "") {
  // A package may have another version of its own of what it depends on.
  const path = [`${within}node_modules/${name}`, `node_modules/${name}`].find((place) => lock[place] !== undefined);
  const entry = lock[path];
  if (entry === undefined || entry.dev || seen.has(path) || builders.includes(name) || name.startsWith("@types/")) return; // types are not carried
  seen.add(path);
  carried.push({ name: `${name}@${entry.version}`, dir: join("web", path), said: entry.license });
  for (const other of Object.keys({ ...entry.dependencies, ...entry.peerDependencies })) add(other, `${path}/`);
}
for (const name of Object.keys(lock[""].dependencies)) add(name);

// One text stands once, under all that it is the licence of.
const texts = new Map();
const without = [];
for (const { name, dir, said } of carried.sort((a, b) => (a.name < b.name ? -1 : 1))) {
  const files = readdirSync(dir, { withFileTypes: true })
    .filter((file) => file.isFile() && /^(licen[sc]e|copying|notice)/i.test(file.name) && !/\.(js|go)$/.test(file.name))
    .map((file) => file.name);
  if (files.length === 0) without.push(`${name}${said ? ` (${said})` : ""}`);
  for (const file of files.sort()) {
    const text = readFileSync(join(dir, file), "utf8").replaceAll("\r", "").replace(/[ \t]+$/gm, "").trim();
    texts.set(text, [...(texts.get(text) ?? []), name]);
  }
}

console.log(`# Notices

Muster carries the work of others: ${carried.length} Go modules, npm packages and fonts (Liberation,
DejaVu, Droid and Nanum in the PDFs, Inter on the pages), as linked for Linux. \`make notices\` writes this file.

github.com/jung-kurt/gofpdf is archived. docs/reference/dependencies.md says how Muster keeps it safe.
`);
console.log([...carried].map(({ name }) => `* ${name}`).join("\n"));
if (without.length > 0) console.log(`\nWithout a license text of their own: ${without.join(", ")}.`);
for (const [text, names] of texts) {
  console.log(`\n## ${names.join(", ")}\n`);
  console.log(text.split("\n").map((line) => (line === "" ? "" : `    ${line}`)).join("\n"));
}
