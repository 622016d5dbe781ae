import { Alert, Button, Container, Text } from "@mantine/core";
import { IconRefreshAlert } from "@tabler/icons-react";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { PageTitle } from "../ui/PageTitle";
import { ProblemNote } from "../ui/ProblemNote";

/** As Chromium, Firefox and Safari word it, and Vite for a stylesheet, when a part of a page is no longer on the server. */
const missingPart =
  /dynamically imported module|importing a module script failed|unable to preload css|module script.*mime/i;

/** PageFailed is shown in place of a page whose code failed, or could not be loaded: after an upgrade its old parts are gone. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  const upgraded = missingPart.test(String(error));
  return (
    <Container size="sm" py="xl">
      <PageTitle title={upgraded ? "This page has changed" : "This page failed"} />
      {upgraded ? (
        <Alert color="yellow" role="alert" icon={<IconRefreshAlert aria-hidden />}>
          <Text size="sm">Part of the page could not be loaded: Muster was upgraded while the page was open.</Text>
          <Button size="xs" variant="default" mt="xs" onClick={() => location.reload()}>
            Reload
          </Button>
        </Alert>
      ) : (
        <ProblemNote error={error} onRetry={reset} />
      )}
    </Container>
  );
}
