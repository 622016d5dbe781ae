import { Container } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { ProblemNote } from "../ui/ProblemNote";

/** PageFailed is shown in place of a page whose code failed. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      <ProblemNote error={error} title="This page failed" onRetry={reset} />
    </Container>
  );
}
