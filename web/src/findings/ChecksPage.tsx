import { Anchor, Chip, Group, Paper, Stack, Table, Text } from "@mantine/core";
import { IconListCheck } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { checkedEngines, engineName } from "../engines";
import { SearchField } from "../instances/SearchField";
import { ListSkeleton, ListTable } from "../settings/ListTable";
import { EmptyState } from "../ui/EmptyState";
import { plural } from "../ui/format";
import { useNarrow } from "../ui/narrow";
import { Pager, pageOf, usualSize } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { checkDomains, type checksSearch } from "../url/schemas";
import { backupControl } from "./BackupControl";
import { SeverityBadge } from "./badges";

type Search = ReturnType<typeof checksSearch>;

/** ChecksPage is the catalogue: what Muster looks at on a server. All of it comes in one answer, and is narrowed here. */
export function ChecksPage() {
  const search = useSearch({ from: "/checks" }) as Search;
  const navigate = useNavigate({ from: "/checks" });
  const change = (next: Search, replace = false) =>
    navigate({
      search: (previous: Search) => ({ ...previous, page: undefined, ...next }),
      replace,
      resetScroll: false,
    });
  const { data, error, refetch } = api.useQuery("get", "/api/v1/checks", { params: { query: { pageSize: 500 } } });
  const narrow = useNarrow();
  const matching = data?.items.filter((check) => matches(check, search));
  const shown = matching && pageOf(matching, search.page ?? 1, search.pageSize ?? usualSize);
  return (
    <>
      <PageTitle title="Checks" lead="The checks that Muster runs on each instance, and when they pass." />
      <Group gap="sm" mb="md" align="center">
        <SearchField
          main
          label="Search checks"
          value={search.q ?? ""}
          onSearch={(q) => change({ q: q || undefined }, true)}
        />
        <Chips
          label="Engine"
          values={checkedEngines}
          chosen={search.engine}
          name={engineName}
          onChange={(engine) => change({ engine })}
        />
        <Chips label="Domain" values={checkDomains} chosen={search.domain} onChange={(domain) => change({ domain })} />
      </Group>
      {error && !data && <ProblemNote error={error} title="The checks could not be loaded" onRetry={refetch} />}
      {!data && !error && <ListSkeleton rows={10} />}
      {matching?.length === 0 && (
        <Panel>
          <EmptyState icon={<IconListCheck size={32} aria-hidden />} title="No check matches" />
        </Panel>
      )}
      {shown && shown.page.totalItems > 0 && (
        <>
          {narrow ? <Cards checks={shown.items} /> : <CheckTable checks={shown.items} />}
          <Pager
            page={shown.page}
            what="checks"
            onTurn={(page) => change({ page: page === 1 ? undefined : page })}
            onSize={(pageSize) => change({ pageSize: pageSize === usualSize ? undefined : pageSize })}
          />
          <Text className="visually-hidden" role="status">
            {plural(shown.page.totalItems, "check")}
          </Text>
        </>
      )}
      <Text size="sm" mt="md">
        Backups have a control of their own:{" "}
        <Anchor renderRoot={(props) => <Link to="/checks/$checkId" params={{ checkId: backupControl }} {...props} />}>
          no backup is older than its recovery point objective
        </Anchor>
        .
      </Text>
    </>
  );
}

type ChipsProps<T extends string> = {
  label: string;
  values: readonly T[];
  chosen: readonly T[] | undefined;
  name?: (value: T) => string;
  onChange: (chosen: T[] | undefined) => void;
};

function Chips<T extends string>({ label, values, chosen, name, onChange }: ChipsProps<T>) {
  return (
    <Chip.Group
      multiple
      value={[...(chosen ?? [])]}
      onChange={(next) => {
        const kept = values.filter((value) => next.includes(value));
        onChange(kept.length > 0 ? kept : undefined);
      }}
    >
      <Group gap={6} role="group" aria-label={label}>
        {values.map((value) => (
          <Chip key={value} value={value} size="sm" variant="outline">
            {name ? name(value) : value}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  );
}

/** matches says whether a check is what an address asks for; a filter of which nothing could be read matches nothing. */
function matches(check: Schemas["Check"], { q, engine, domain }: Search): boolean {
  if (engine && !(engine as readonly string[]).includes(check.engine)) return false;
  if (domain && !domain.includes(check.domain)) return false;
  const text = [check.id, check.title, check.rationale, check.threshold, check.remediation.summary]
    .join(" ")
    .toLowerCase();
  return q === undefined || text.includes(q.toLowerCase());
}

type Checks = { checks: Schemas["Check"][] };

function CheckLink({ check }: { check: Schemas["Check"] }) {
  return (
    <>
      <Anchor component={Link} to="/checks/$checkId" params={{ checkId: check.id } as never} size="sm" fw={550}>
        {check.title}
      </Anchor>
      <Text size="xs" c="dimmed">
        Passes with: {check.threshold}
      </Text>
    </>
  );
}

function CheckTable({ checks }: Checks) {
  return (
    <ListTable label="Checks" columns={["Check", "Effect of a failure", "Engine", "Domain", "Severity"]} minWidth={760}>
      {checks.map((check) => (
        <Table.Tr key={check.id} style={{ verticalAlign: "top" }}>
          <Table.Td className="numbers" style={{ whiteSpace: "nowrap" }}>
            {check.id}
          </Table.Td>
          <Table.Td>
            <CheckLink check={check} />
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>{engineName(check.engine)}</Table.Td>
          <Table.Td>{check.domain}</Table.Td>
          <Table.Td>
            <SeverityBadge severity={check.severity} />
          </Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  );
}

/** Cards are the same on a phone. */
function Cards({ checks }: Checks) {
  return (
    <Stack gap="sm">
      {checks.map((check) => (
        <Paper key={check.id} withBorder p="sm">
          <Group gap="xs" justify="space-between" mb={4}>
            <SeverityBadge severity={check.severity} />
            <Text size="xs" c="dimmed" className="numbers">
              {check.id} · {engineName(check.engine)} · {check.domain}
            </Text>
          </Group>
          <CheckLink check={check} />
        </Paper>
      ))}
    </Stack>
  );
}
