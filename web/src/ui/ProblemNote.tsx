import { Alert, Button, Group, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { asProblem } from "../api/problem";

/** ProblemNote says what went wrong, the request's id to tell to whoever runs Muster, and offers what can be done. */
export function ProblemNote({
  error,
  title,
  onRetry,
  children,
}: {
  error: unknown;
  title?: string;
  onRetry?: () => void;
  children?: ReactNode;
}) {
  const problem = asProblem(error);
  return (
    <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />} title={title}>
      <Text size="sm">{problem.message}</Text>
      {children}
      {problem.requestId && (
        <Text size="xs" mt={4}>
          Request {problem.requestId}
        </Text>
      )}
      {onRetry && (
        <Group mt="xs">
          <Button size="xs" variant="default" onClick={onRetry}>
            Retry
          </Button>
        </Group>
      )}
    </Alert>
  );
}
