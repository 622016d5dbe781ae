// What an operator copies to point an agent here: docs/operators.md, with this server's address and the token.

export const agents = [
  { id: "prometheus", name: "Prometheus" },
  { id: "vmagent", name: "vmagent" },
  { id: "opentelemetry", name: "OpenTelemetry" },
  { id: "alertmanager", name: "Alertmanager" },
  { id: "push", name: "Push (curl)" },
] as const;

export type Agent = (typeof agents)[number]["id"];
export type Step = { label: string; text: string };
export type Recipe = { brings: string; steps: Step[]; notes: string[] };

/** placeholder stands where the token will be. */
export const placeholder = "mst_ing_YOUR-TOKEN";

const keepToken = (token: string, user: string, file: string): Step => ({
  label: `Store the token where ${user} can read it`,
  text: `printf %s '${token}' | sudo install -m 0400 -o ${user} /dev/stdin ${file}`,
});

/** recipe is what to do to point an agent at a Muster, at its origin, with a token. at is the time in examples. */
export function recipe(agent: Agent, origin: string, token: string, at: Date = new Date()): Recipe {
  return recipes[agent](new URL(origin), token, at);
}

const recipes: Record<Agent, (url: URL, token: string, at: Date) => Recipe> = {
  prometheus: (url, token) => ({
    brings: "Hosts (CPU, memory, file systems) from node_exporter, and alerts from Prometheus rules.",
    steps: [
      keepToken(token, "prometheus", "/etc/prometheus/muster.token"),
      {
        label: "prometheus.yml: hosts",
        text: `remote_write:
  - url: ${url.origin}/ingest/v1/prometheus/write
    authorization: {credentials_file: /etc/prometheus/muster.token}
    write_relabel_configs:
      - source_labels: [__name__]
        regex: node_cpu_seconds_total|node_memory_Mem(Total|Available)_bytes|node_filesystem_((size|free|avail)_bytes|readonly)|windows_cpu_time_total|windows_(memory|os|cs)_.+_bytes|windows_logical_disk_(size_bytes|free_bytes|readonly|info)|(pg|cnpg_collector|mssql|oracledb|mysql|mongodb)_up
        action: keep`,
      },
      {
        label: "prometheus.yml: alerts",
        text: `alerting:
  alertmanagers:
    - scheme: ${url.protocol.replace(":", "")}
      path_prefix: /ingest/v1/alertmanager
      authorization: {credentials_file: /etc/prometheus/muster.token}
      static_configs: [{targets: ['${url.host}']}]`,
      },
      {
        label: "Check and reload",
        text: "promtool check config /etc/prometheus/prometheus.yml && sudo systemctl reload prometheus",
      },
    ],
    notes: [
      "The relabelling only saves traffic: Muster ignores other series.",
      "A host belongs to the instances registered with its name (label instance, without the port), or named in the label muster_instance.",
      "vmalert sends its alerts the same way: -notifier.url and -notifier.bearerTokenFile.",
    ],
  }),
  vmagent: (url, token) => ({
    brings: "Hosts (CPU, memory, file systems) from the node_exporters that vmagent scrapes.",
    steps: [
      keepToken(token, "vmagent", "/etc/vmagent/muster.token"),
      {
        label: "vmagent",
        text: `vmagent -promscrape.config=/etc/vmagent/scrape.yml \\
  -remoteWrite.url=${url.origin}/ingest/v1/prometheus/write \\
  -remoteWrite.bearerTokenFile=/etc/vmagent/muster.token`,
      },
    ],
    notes: ["vmagent may try its own protocol first; it gets 415 and continues with the Prometheus protocol."],
  }),
  opentelemetry: (url, token) => ({
    brings: "Hosts (CPU, memory, file systems) from the collector's hostmetrics receiver.",
    steps: [
      keepToken(token, "otelcol-contrib", "/etc/otelcol/muster.token"),
      {
        label: "Collector configuration",
        text: `receivers:
  hostmetrics:
    collection_interval: 30s
    scrapers:
      cpu:
      memory:
        metrics:
          system.memory.limit: {enabled: true}
          system.linux.memory.available: {enabled: true}
      filesystem:
processors:
  resourcedetection: {detectors: [system], system: {hostname_sources: [os]}}
exporters:
  otlphttp/muster:
    endpoint: ${url.origin}/ingest/v1/otlp
    headers: {Authorization: "Bearer \${file:/etc/otelcol/muster.token}"}
service:
  pipelines:
    metrics: {receivers: [hostmetrics], processors: [resourcedetection], exporters: [otlphttp/muster]}`,
      },
    ],
    notes: [
      "resourcedetection names the host; without it Muster drops the measurements.",
      "Keep sums cumulative: do not use cumulativetodelta in this pipeline.",
    ],
  }),
  alertmanager: (url, token) => ({
    brings: "Alerts, after Alertmanager's grouping, silences and inhibitions.",
    steps: [
      keepToken(token, "alertmanager", "/etc/alertmanager/muster.token"),
      {
        label: "alertmanager.yml: the receiver",
        text: `receivers:
  - name: muster
    webhook_configs:
      - url: ${url.origin}/ingest/v1/alertmanager/webhook
        http_config: {authorization: {credentials_file: /etc/alertmanager/muster.token}}`,
      },
      {
        label: "alertmanager.yml: a route to it, before the others",
        text: `route:
  receiver: YOUR-RECEIVER
  routes:
    - {receiver: muster, continue: true}`,
      },
    ],
    notes: [
      "Keep send_resolved at its default: these alerts stay open until Alertmanager resolves them.",
      "Annotation summary is the title, label severity (info, warning, critical) the severity; label muster_instance or instance names the instance.",
    ],
  }),
  push: (url, token, at) => ({
    brings: "Instances of any engine, with hosts, sessions and statements, from any tool.",
    steps: [
      { label: "The token, for the commands below", text: `MUSTER_TOKEN='${token}'` },
      {
        label: "Register an instance and its databases, once",
        text: `curl -sS ${url.origin}/ingest/v1/fleet \\
  -H "Authorization: Bearer $MUSTER_TOKEN" -H 'Content-Type: application/json' -d '{"instances": [{
    "externalId": "sql-erp-01", "name": "sql-erp-01", "engine": "sqlserver", "host": "win01",
    "createdAt": "${seconds(at)}",
    "databases": [{"externalId": "erp", "name": "erp", "createdAt": "${seconds(at)}"}]}]}'`,
      },
      {
        label: "Send measurements, every 10 to 60 seconds",
        text: `NOW=$(date -u +%Y-%m-%dT%H:%M:%SZ)
curl -sS ${url.origin}/ingest/v1/samples \\
  -H "Authorization: Bearer $MUSTER_TOKEN" -H 'Content-Type: application/json' -d '{
  "hosts": [{"host": "win01", "instances": ["sql-erp-01"], "at": "'"$NOW"'",
    "cpuPercent": 41.5, "memoryPercent": 63.0, "volumes": [{"mount": "D:", "usedPercent": 71.2}]}],
  "sessions": [{"instance": "sql-erp-01", "database": "erp", "at": "'"$NOW"'",
    "active": 4, "idle": 20, "waiting": 3, "idleInTransaction": 1, "other": 0, "waits": {"LCK_M_X": 3}}],
  "statements": [{"instance": "sql-erp-01", "database": "erp", "at": "'"$NOW"'", "intervalSeconds": 60,
    "statements": [{"key": "q1", "calls": 10, "totalMs": 123.4}]}]}'`,
      },
    ],
    notes: [
      "Sending the same call again changes nothing, so repeat it after a timeout, 429 or 503.",
      "Muster accepts or rejects a call as a whole, with a pointer to each invalid member.",
    ],
  }),
};

const seconds = (at: Date) => at.toISOString().replace(/\.\d+/, "");
