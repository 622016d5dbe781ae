import { Anchor, Breadcrumbs, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** Trail leads from a page back to the list that it is of, with the list's search. What one is on may be long. */
export function Trail({
  to,
  name,
  search,
  children,
}: {
  to: string;
  name: string;
  search?: object;
  children: ReactNode;
}) {
  return (
    <Breadcrumbs
      mb="xs"
      component="nav"
      aria-label="Breadcrumbs"
      styles={{ root: { flexWrap: "wrap" }, breadcrumb: { whiteSpace: "normal" } }}
    >
      <Anchor component={Link} to={to as never} search={search as never} size="sm">
        {name}
      </Anchor>
      <Text size="sm" c="dimmed" aria-current="page">
        {children}
      </Text>
    </Breadcrumbs>
  );
}
