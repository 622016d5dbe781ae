import { Anchor, Badge, Button, Group, Skeleton, Text, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useId, useState } from "react";
import { api, type Schemas } from "../api/client";
import { OwnerChip } from "../teams/OwnerChip";
import { count, duration, plural } from "../ui/format";
import { useNow } from "../ui/now";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { SeverityBadge } from "./badges";
import { Due } from "./Charge";
import classes from "./Groups.module.css";
import { type FindingsSearch, filtersOf, type GroupsQuery } from "./query";

type FindingGroup = Schemas["FindingGroup"];
export type By = "check" | "instance";

const path = "/api/v1/findings/groups";
/** How many servers of a check, or checks of a server, and how many objects are shown before the flat list has the rest. */
const shownGroups = 100;
const shownFindings = 50;

export const useGroups = (query: GroupsQuery, enabled = true) =>
  api.useQuery("get", path, { params: { query } }, { enabled, placeholderData: keepPreviousData });

/** whatOf counts a group in words: "3 servers, 48 CVEs". */
export function whatOf(g: Pick<FindingGroup, "findings" | "instances" | "checks" | "unit" | "check">): string {
  const of = g.check ? plural(g.instances, "server") : plural(g.checks, "check");
  if (g.unit !== "CVE" && g.findings === (g.check ? g.instances : g.checks)) return of;
  return `${of}, ${plural(g.findings, g.unit === "CVE" ? "CVE" : "finding")}`;
}

/** upgradeOf says what closes findings of a group; null where no release does. */
export function upgradeOf(g: Pick<FindingGroup, "findings" | "upgrades">): string | null {
  const [one, ...more] = g.upgrades;
  if (!one) return null;
  const closes = g.upgrades.reduce((sum, u) => sum + u.closes, 0);
  const what = closes === g.findings ? `all ${count(closes)}` : count(closes);
  if (more.length === 0) return `Upgrade to ${one.to} closes ${what}`;
  return `Upgrades to ${g.upgrades.map((u) => u.to).join(", ")} close ${what}`;
}

/** GroupList is what fails, by check or by server; each group opens to the other, and that to its objects. */
export function GroupList({
  groups,
  by,
  list,
  busy,
}: {
  groups: FindingGroup[];
  by: By;
  list: FindingsSearch;
  busy: boolean;
}) {
  return (
    <Panel p={0}>
      <ul className={classes.list} aria-label="Findings" aria-busy={busy}>
        {groups.map((g) => (
          <GroupRow key={g.check?.id ?? g.instance?.id} group={g} list={list}>
            <Inner by={by === "check" ? "instance" : "check"} list={narrowed(list, g)} />
          </GroupRow>
        ))}
      </ul>
    </Panel>
  );
}

/** narrowed is an address that lists the findings of a group alone. */
const narrowed = (list: FindingsSearch, g: FindingGroup): FindingsSearch => ({
  ...list,
  page: undefined,
  ...(g.check && { checkId: [g.check.id] }),
  ...(g.instance && { instanceId: [g.instance.id] }),
});

function GroupRow({ group: g, list, children }: { group: FindingGroup; list: FindingsSearch; children: ReactNode }) {
  const [opened, setOpened] = useState(false);
  const now = useNow(60_000);
  const id = useId();
  const upgrade = upgradeOf(g);
  const Chevron = opened ? IconChevronDown : IconChevronRight;
  return (
    <li data-group={g.check?.id ?? g.instance?.id}>
      <div className={classes.row}>
        <UnstyledButton
          className={classes.toggle}
          aria-expanded={opened}
          aria-controls={id}
          onClick={() => setOpened(!opened)}
        >
          <Chevron size={16} aria-hidden />
          <SeverityBadge severity={g.severity} />
          <Text size="sm" fw={550} span style={{ overflowWrap: "anywhere" }}>
            <bdi>{g.check?.title ?? g.instance?.name}</bdi>{" "}
            {g.check && (
              <Text size="xs" c="dimmed" span className="numbers">
                {g.check.id}
              </Text>
            )}
          </Text>
        </UnstyledButton>
        <Group gap="sm" className={classes.facts}>
          {upgrade && (
            <Badge variant="light" radius="sm" tt="none">
              {upgrade}
            </Badge>
          )}
          <Text size="sm" span className="numbers">
            {whatOf(g)}
          </Text>
          <Text size="sm" c="dimmed" span className="numbers">
            Open for {duration(Math.max(60_000, now.getTime() - Date.parse(g.firstSeenAt)))}
          </Text>
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link to="/findings" search={{ ...narrowed(list, g), group: "none" } as never} {...props} />
            )}
            aria-label={`List the findings: ${g.check?.title ?? g.instance?.name}`}
          >
            List
          </Anchor>
        </Group>
      </div>
      <div id={id} className={classes.inner} hidden={!opened}>
        {opened && children}
      </div>
    </li>
  );
}

/** Inner is the level below: the servers of a check, or the checks of a server. */
function Inner({ by, list }: { by: By; list: FindingsSearch }) {
  const { data, error, refetch } = useGroups({ ...filtersOf(list), by, pageSize: shownGroups });
  if (error && !data) return <ProblemNote error={error} title="These findings could not be loaded" onRetry={refetch} />;
  if (!data) return <Skeleton height={32} />;
  return (
    <>
      <ul className={classes.list}>
        {data.items.map((g) => (
          <GroupRow key={g.check?.id ?? g.instance?.id} group={g} list={list}>
            <Objects list={narrowed(list, g)} />
          </GroupRow>
        ))}
      </ul>
      <Rest
        shown={data.items.length}
        total={data.page.totalItems}
        what={by === "check" ? "checks" : "servers"}
        list={list}
      />
    </>
  );
}

/** Objects are the findings of one check on one server. */
function Objects({ list }: { list: FindingsSearch }) {
  const { data, error, refetch } = api.useQuery("get", "/api/v1/findings", {
    params: { query: { ...filtersOf(list), pageSize: shownFindings } },
  });
  if (error && !data) return <ProblemNote error={error} title="These findings could not be loaded" onRetry={refetch} />;
  if (!data) return <Skeleton height={32} />;
  return (
    <>
      <ul className={classes.list}>
        {data.items.map((f) => (
          <li key={f.id} data-finding={f.id} className={classes.object}>
            <Anchor
              size="sm"
              style={{ overflowWrap: "anywhere" }}
              renderRoot={(props) => (
                <Link
                  to="/findings/$findingId"
                  params={{ findingId: f.id } as never}
                  state={{ findings: list } as never}
                  {...props}
                />
              )}
            >
              <bdi>{f.object ?? f.database?.name ?? f.instance.name}</bdi>
            </Anchor>
            <Text size="xs" c="dimmed" span style={{ overflowWrap: "anywhere" }}>
              {f.object && f.database && (
                <>
                  <bdi>{f.database.name}</bdi>
                  {" · "}
                </>
              )}
              <bdi>{f.evidence ?? f.reason}</bdi>
            </Text>
            <span>
              <OwnerChip owner={f.owner} />
            </span>
            {f.overdueDays > 0 && <Due finding={f} />}
          </li>
        ))}
      </ul>
      <Rest shown={data.items.length} total={data.page.totalItems} what="findings" list={list} />
    </>
  );
}

function Rest({ shown, total, what, list }: { shown: number; total: number; what: string; list: FindingsSearch }) {
  if (total <= shown) return null;
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      renderRoot={(props) => <Link to="/findings" search={{ ...list, group: "none" } as never} {...props} />}
    >
      All {count(total)} {what}
    </Button>
  );
}
