/** What stands for the token in texts to copy. */
const placeholder = "mst_pat_…";

/** assistantSnippets are the configurations of assistants for a Muster at origin. */
export function assistantSnippets(origin: string): { label: string; text: string }[] {
  const url = `${origin}/mcp`;
  const server = { type: "http", url, headers: { Authorization: `Bearer ${placeholder}` } };
  return [
    {
      label: "Configuration as JSON, for most assistants",
      text: JSON.stringify({ mcpServers: { muster: server } }, null, 2),
    },
    {
      label: "Try it: list the tools of the token",
      text: [
        `curl -s ${url} \\`,
        `  -H 'Authorization: Bearer ${placeholder}' \\`,
        "  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\",
        `  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`,
      ].join("\n"),
    },
  ];
}
