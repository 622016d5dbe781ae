{{covered}}
-- The release of its own major that fixes a vulnerability stands in the evidence
-- (postgresql.fixedIn). The highest of a server closes all of its others.
SELECT key, upgrade, count(*) AS instances, sum(closes)::bigint AS closes
FROM (
    SELECT {{key}} AS key, f.instance_id, array_to_string(max(string_to_array(substring(f.evidence FROM '^CVSS [0-9.]+, fixed in ([0-9]+(?:[.][0-9]+)*):'), '.')::int[]), '.') AS upgrade,
           count(*) AS closes
    {{matching}} AND f.object LIKE 'CVE-%' AND f.evidence ~ '^CVSS [0-9.]+, fixed in [0-9]+([.][0-9]+)*:'
    GROUP BY 1, 2
) AS u
GROUP BY key, upgrade
ORDER BY key, closes DESC, upgrade
