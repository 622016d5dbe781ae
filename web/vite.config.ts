import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

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

const base = new RegExp(
  [
    "node_modules/(react|use-sync-external-store|@tanstack/[^/]+|openapi-[^/]+)/",
    "@mantine/core/esm/core/",
    "@mantine/core/esm/components/(Alert|Anchor|Badge|Button|Center|CloseButton|Group|Loader|Paper|Stack|Text|Title|UnstyledButton)/",
    "/web/src/(api|url|window|ui/(format|later|now|part|say|toast))",
    "vite/",
  ].join("|"),
);

export default defineConfig({
  plugins: [react(), icons],
  optimizeDeps: { exclude: ["@tabler/icons-react"] },
  build: {
    outDir: "dist/app",
    emptyOutDir: true,
    reportCompressedSize: false,
    // The content security policy admits no data: but images.
    assetsInlineLimit: 0,
    manifest: true,
    // What most pages share comes in one file, not in forty.
    rolldownOptions: {
      input: ["index.html", "docs.html"], // the application, and the description of the API
      output: {
        codeSplitting: {
          groups: [
            // That which the frame and the dashboard's first chart need comes before menus, tables, fields and what opens over a page.
            { name: "base", test: base, priority: 2 },
            { name: "common", minShareCount: 14 },
            // Ten requests for ten icons of 0.2 kB kept a slow browser busy for longer than the icons of all pages do.
            { name: "icons", test: /tabler/, minShareCount: 2, priority: 1 },
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
    proxy: Object.fromEntries(
      ["/api", "/auth", "/docs", "/version", "/assets/icon.svg"].map((path) => [path, { target: server }]),
    ),
  },
});
