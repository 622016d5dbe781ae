import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { asProblem } from "../api/problem";
import { EmptyState } from "./EmptyState";
import { ProblemNote } from "./ProblemNote";

/** NotThere says of one thing that it does not exist, with the way to all of them, or why it could not be loaded. */
export function NotThere({
  what,
  error,
  onRetry,
  all,
  children,
}: {
  /** As a sentence has it: "schedule". */
  what: string;
  error: unknown;
  onRetry: () => void;
  all: { to: string; name: string };
  /** Why it may not exist. */
  children: ReactNode;
}) {
  // 400 is an address whose id is none.
  if (![400, 404].includes(asProblem(error).status)) {
    return <ProblemNote error={error} title={`The ${what} could not be loaded`} onRetry={onRetry} />;
  }
  return (
    <EmptyState
      title={`This ${what} does not exist`}
      action={
        <Anchor component={Link} to={all.to as "/"} size="sm">
          Go to {all.name}
        </Anchor>
      }
    >
      {children}
    </EmptyState>
  );
}
