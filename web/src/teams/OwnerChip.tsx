import { Anchor, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { components } from "../api/schema";
import { SortHead } from "../ui/SortHead";
import classes from "./owner.module.css";

type Owned = { owner: components["schemas"]["Owner"] };
/** A crowded table has many columns. */
type Crowded = { crowded?: boolean };

/** OwnerChip is the team that something belongs to, which leads to the team's servers. */
export function OwnerChip({ owner }: Owned) {
  if (!owner)
    return (
      <Text span size="xs" c="dimmed">
        No owner
      </Text>
    );
  return (
    <Anchor
      className={classes.chip}
      title={owner.name}
      renderRoot={(props) => <Link {...props} to="/instances" search={{ owner: owner.id } as never} />}
    >
      <span className="visually-hidden">Owner: </span>
      <bdi>{owner.name}</bdi>
    </Anchor>
  );
}

type Ordered<Sort extends string> = { sort: Sort; onSort: (sort: Sort) => void };

/** OwnerHead is the head of a column that is there on a wide screen, by which the list is ordered at a click. */
export function OwnerHead<Sort extends string>({ crowded, ...order }: Crowded & Ordered<Sort>) {
  return <SortHead name="Owner" first={"owner" as Sort} className={classes.column} crowded={crowded} {...order} />;
}

/** OwnerCell is a cell of the column. */
export function OwnerCell({ owner, crowded }: Owned & Crowded) {
  return (
    <Table.Td className={classes.column} data-crowded={crowded || undefined} data-owner={owner?.name ?? ""}>
      <OwnerChip owner={owner} />
    </Table.Td>
  );
}

/** OwnerWithin is the same in another cell, where the column is not there. */
export function OwnerWithin({ owner, crowded }: Owned & Crowded) {
  return (
    <div className={classes.inline} data-crowded={crowded || undefined}>
      <OwnerChip owner={owner} />
    </div>
  );
}
