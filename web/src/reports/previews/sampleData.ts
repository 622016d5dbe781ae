// Everything the previews show is made up, and is here: none of it comes from the organization.

/** Figure is a number of the first page, with what it means. */
export type Figure = { name: string; value: string; note: string };

export const organization = "Sample organization";

export const performanceSla = {
  period: "1 – 31 October 2026 (UTC)",
  verdict: "Four of five services met their targets. Reporting missed its latency target on six days.",
  figures: [
    { name: "Availability", value: "99.94 %", note: "target 99.90 %" },
    { name: "Average latency", value: "4.2 ms", note: "0.3 ms less than September" },
    { name: "Targets met", value: "9 of 10", note: "of 5 services" },
    { name: "Unplanned downtime", value: "26 min", note: "in 2 outages" },
  ] satisfies Figure[],
  /** Average latency in milliseconds, a value a day. */
  latency: [
    4.1, 4.0, 4.3, 3.9, 3.8, 4.2, 4.4, 4.1, 4.0, 4.2, 4.3, 4.1, 5.2, 6.8, 7.4, 6.9, 5.1, 4.3, 4.0, 3.9, 4.1, 4.2, 3.8,
    3.7, 3.9, 4.0, 4.1, 3.9, 3.8, 3.7, 3.8,
  ],
  services: [
    { name: "Orders", availability: 99.99, availabilityTarget: 99.95, latency: 2.8, latencyTarget: 5 },
    { name: "Billing", availability: 99.97, availabilityTarget: 99.95, latency: 3.9, latencyTarget: 8 },
    { name: "Identity", availability: 100, availabilityTarget: 99.99, latency: 1.1, latencyTarget: 3 },
    { name: "Reporting", availability: 99.82, availabilityTarget: 99.5, latency: 41.7, latencyTarget: 40 },
    { name: "Warehouse", availability: 99.91, availabilityTarget: 99.5, latency: 88.4, latencyTarget: 120 },
  ],
};

export const alertsSummary = {
  period: "9 – 15 November 2026 (UTC)",
  verdict: "42 alerts, three of them still open. Half of them came from two instances.",
  figures: [
    { name: "Raised", value: "42", note: "7 fewer than the week before" },
    { name: "Resolved", value: "39", note: "31 automatically" },
    { name: "Still open", value: "3", note: "1 critical" },
    { name: "Median time to resolve", value: "18 min", note: "24 min the week before" },
  ] satisfies Figure[],
  days: [
    { name: "Mon", raised: 5, resolved: 4 },
    { name: "Tue", raised: 3, resolved: 4 },
    { name: "Wed", raised: 11, resolved: 9 },
    { name: "Thu", raised: 9, resolved: 10 },
    { name: "Fri", raised: 6, resolved: 6 },
    { name: "Sat", raised: 2, resolved: 3 },
    { name: "Sun", raised: 6, resolved: 3 },
  ],
  repeated: [
    { name: "Replication lag above 30 s", times: 12, active: "2 h 41 min", servers: "sample-pg-02" },
    { name: "Disk above 90 %", times: 7, active: "6 h 12 min", servers: "sample-pg-04, sample-ora-01" },
    { name: "Long transaction", times: 6, active: "58 min", servers: "sample-mssql-01" },
    { name: "Connections above 80 %", times: 5, active: "34 min", servers: "sample-pg-01" },
  ],
};

export const dailyDigest = {
  period: "Friday, 20 November 2026, 00:00 – 24:00 (UTC)",
  verdict: "A quiet day. One instance was silent for 14 minutes, and one disk will be full in nine days.",
  figures: [
    { name: "Instances reporting", value: "13 of 14", note: "sample-ora-02 silent 03:10 – 03:24" },
    { name: "New alerts", value: "4", note: "all resolved" },
    { name: "Peak connections", value: "412", note: "at 10:35" },
    { name: "Newly failing checks", value: "2", note: "1 now passes" },
  ] satisfies Figure[],
  /** Open connections, a value an hour. */
  connections: [
    86, 81, 74, 70, 72, 90, 138, 201, 287, 356, 412, 398, 341, 362, 377, 350, 318, 276, 233, 190, 158, 131, 112, 97,
  ],
  attention: [
    { what: "Disk /var/lib/data fills: 91 %, nine days left", where: "sample-pg-04", by: "Mon 23 Nov" },
    { what: "Last backup is 31 hours old", where: "sample-mssql-01", by: "today" },
    { what: "Certificate ends on 4 December", where: "sample-pg-01", by: "Fri 27 Nov" },
    { what: "Two indexes are invalid since a failed build", where: "sample-pg-02", by: "this week" },
  ],
};
