import { Button, Table } from "@mantine/core";
import { useState } from "react";
import { clockTime, plural } from "../ui/format";
import classes from "./blocking.module.css";
import type { Session, Tree } from "./episode";

const columns: [string, (s: Session) => string | null][] = [
  ["Session", (s) => s.session],
  ["Waits for", (s) => s.waitsFor.join(", ") || null],
  ["Since", (s) => s.waitsSince && clockTime(s.waitsSince)],
  ["Application", (s) => s.application],
  ["User", (s) => s.user],
  ["Client", (s) => s.client],
  ["Database", (s) => s.database],
  ["State", (s) => s.state],
  ["Lock", (s) => [s.lock, s.mode].filter(Boolean).join(", ") || null],
  ["Object", (s) => s.object],
  ["Statement", (s) => s.statement],
];

/** SessionTable is all sessions of a tree, for whoever asks for them. */
export function SessionTable({ tree }: { tree: Tree }) {
  const [open, setOpen] = useState(false);
  const hides = tree.sessions.some(({ hidden }) => hidden);
  const shown = columns.filter(([name]) => !(hides && ["Application", "User", "Client", "Statement"].includes(name)));
  const label = `All ${plural(tree.sessions.length, "session")} as a table`;
  return (
    <>
      <Button size="compact-sm" variant="subtle" mt="sm" aria-expanded={open} onClick={() => setOpen(!open)}>
        {label}
      </Button>
      {tree.omitted > 0 && (
        <span className={classes.dim}> {plural(tree.omitted, "more waiting session")} were counted, and not kept.</span>
      )}
      {open && (
        <Table.ScrollContainer minWidth={900} type="native" tabIndex={0} role="region" aria-label={label}>
          <Table verticalSpacing={4} horizontalSpacing="sm" aria-label={label} fz="sm">
            <Table.Thead>
              <Table.Tr>
                {shown.map(([name]) => (
                  <Table.Th key={name} scope="col">
                    {name}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {tree.sessions.map((s) => (
                <Table.Tr key={s.session} style={{ verticalAlign: "top" }}>
                  {shown.map(([name, of]) => (
                    <Table.Td key={name} className={name === "Statement" ? classes.cell : undefined}>
                      <bdi>{of(s) ?? "–"}</bdi>
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </>
  );
}
