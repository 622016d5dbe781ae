import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../ui/EmptyState";
import { PageTitle } from "../ui/PageTitle";

/** Lost is shown where there is nothing at an address. */
export function Lost() {
  return (
    <>
      <PageTitle title="Nothing here" />
      <EmptyState title="There is nothing at this address">
        <Anchor component={Link} to="/" size="sm">
          To the dashboard
        </Anchor>
      </EmptyState>
    </>
  );
}
