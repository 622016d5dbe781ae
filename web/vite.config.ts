import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin, type Rolldown } from "vite";

// MUSTER_URL is the server that answers the API while `npm run dev` serves the pages.
const server = process.env.MUSTER_URL ?? "http://127.0.0.1:8080";

// The icons' package is 4 MB, of which a build keeps what is used. `npm run dev` would load it
// whole at each visit: there every icon is imported from its own file.
const icons: Plugin = {
  name: "icons-one-by-one",
  apply: "serve",
  enforce: "pre",
  transform(code, id) {
    if (!id.includes("/web/src/") || !code.includes('from "@tabler/icons-react"')) return null;
    const oneByOne = code.replace(/import \{([^}]*)\} from "@tabler\/icons-react";/g, (_, names: string) =>
      names
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "" && !name.startsWith("type "))
        .map((name) => `import ${name} from "@tabler/icons-react/dist/esm/icons/${name.replace(/ as .*/, "")}.mjs";`)
        .join(" "),
    );
    return { code: oneByOne, map: null };
  },
};

/** filesOf is a chunk's file and all that come before it, scripts and style sheets. */
function filesOf(chunks: Rolldown.OutputChunk[], file: string, found = new Set<string>()): Set<string> {
  const chunk = chunks.find(({ fileName }) => fileName === file);
  if (!chunk || found.has(file)) return found;
  found.add(file);
  for (const sheet of chunk.viteMetadata?.importedCss ?? []) found.add(sheet);
  for (const next of chunk.imports) filesOf(chunks, next, found);
  return found;
}

// The script that asks for what a page shows first runs before any other. It knows the application's file, which it starts
// when it has asked, and those of the dashboard.
const early: Plugin = {
  name: "early",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler(html, { bundle, chunk: entry, path }) {
      if (!bundle || !entry || path !== "/index.html") return;
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const first = chunks.find(({ name }) => name === "early");
      const pageOf = (file: string) => chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(file)));
      const parts = {
        "data-dashboard": pageOf("/dashboard/DashboardPage.tsx"),
        "data-server": pageOf("/instances/InstancePage.tsx"),
        "data-shared": chunks.find(({ name }) => name === "common"), // by all pages but the dashboard
      };
      const started = `<script type="module" crossorigin src="/${entry.fileName}"></script>`;
      if (!first || first.imports.length > 0) throw new Error("early/start.ts is no file of its own");
      if (!html.includes(started)) throw new Error("the application is not started");
      const there = filesOf(chunks, entry.fileName);
      const named = Object.entries(parts).map(([name, part]) => {
        if (!part) throw new Error(`${name} is missing`);
        const files = [...filesOf(chunks, part.fileName)].filter((file) => !there.has(file));
        return [name, files.map((file) => `/${file}`).join(" ")];
      });
      const script = {
        type: "module",
        async: true,
        crossorigin: true,
        src: `/${first.fileName}`,
        "data-application": `/${entry.fileName}`,
        ...Object.fromEntries(named),
      };
      return {
        html: html.replace(started, `<link rel="modulepreload" crossorigin href="/${entry.fileName}">`),
        tags: [{ tag: "script", attrs: script, injectTo: "head-prepend" }],
      };
    },
  },
};

/** Small parts of many pages, which would each be a request: icons, style sheets but those of the API's description, and these. */
const small = new RegExp(
  [
    "@tabler/icons-react/",
    "/web/src/(?!docs/).*\\.css",
    "@fontsource",
    "(@mantine|uplot)/.*\\.css",
    "/web/src/chart/(palette|times)",
    "/web/src/dashboard/(asking|fleet|last|units|useHidden|who)\\.ts",
    "/web/src/instances/(every|reason|states)",
    "/web/src/notify/(NobodyIsTold|changed)",
    "/web/src/shell/clipboard",
    "/web/src/ui/(csv|format|later|now|part|say|toast)",
  ].join("|"),
);

/** What the frame takes of Mantine, whose index names all of it. */
const parts =
  /@mantine\/core\/esm\/(core\/|components\/(Alert|Anchor|Badge|Button|Center|CloseButton|Group|Loader|Paper|Stack|Text|Title|UnstyledButton)\/)/;

/** frame is all modules that the application's first file needs, which every page has. */
const frame = new Set<string>();
const framed: Plugin = {
  name: "framed",
  apply: "build",
  buildEnd() {
    const walk = (id: string) => {
      if (frame.has(id) || id.includes("/node_modules/@mantine/") || id.includes("/node_modules/@tabler/")) return;
      frame.add(id);
      for (const next of this.getModuleInfo(id)?.importedIds ?? []) walk(next);
    };
    for (const id of this.getModuleIds())
      if (id.endsWith("/web/src/main.tsx")) for (const next of this.getModuleInfo(id)?.importedIds ?? []) walk(next);
  },
};

export default defineConfig({
  plugins: [react(), icons, framed, early],
  optimizeDeps: { exclude: ["@tabler/icons-react"] },
  build: {
    outDir: "dist/app",
    emptyOutDir: true,
    reportCompressedSize: false,
    // Swagger UI, which the description of the API alone loads, is one file of 1.5 MB. What the dashboard loads is held by a test.
    chunkSizeWarningLimit: 1_600,
    // It would have the API's description load what the application stands on, and so ask who is signed in. Browsers
    // that want it load scripts a little later.
    modulePreload: { polyfill: false },
    // The content security policy admits no data: but images.
    assetsInlineLimit: 0,
    manifest: true,
    rolldownOptions: {
      input: ["index.html", "docs.html"], // the application, and the description of the API
      output: {
        codeSplitting: {
          groups: [
            { name: "early", test: /\/web\/src\/(early|url|window\/(opened|query|refresh|window))/, priority: 5 },
            // A cold page loads the frame, what pages share, and its own code: three files, and the dashboard's for charts.
            { name: "base", test: (id: string) => frame.has(id) || small.test(id) || parts.test(id), priority: 4 },
            { name: "dashboard", test: /\/web\/src\/dashboard\/DashboardPage\.tsx/, priority: 3 },
            { name: "tools", test: /\/web\/src\/(shell\/Tools|reports\/ReportAnnouncer|ui\/Toasts)\.tsx/, priority: 1 },
            { name: "common", minShareCount: 2, priority: 2 },
          ],
        },
      },
    },
    target: "es2022",
  },
  server: {
    host: "127.0.0.1",
    port: 5173,
    strictPort: true,
    // The scripts of grants and the table of versions lie beside the code that knows them.
    fs: { allow: [".", "../internal/assessment", "../internal/intake/measure", "../internal/servers"] },
    proxy: Object.fromEntries(
      ["/api", "/auth", "/docs", "/version", "/assets/icon.svg"].map((path) => [path, { target: server }]),
    ),
  },
});
