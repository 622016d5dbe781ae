import { Stack } from "@mantine/core";
import { useSession } from "../api/session";
import { PageTitle } from "../ui/PageTitle";
import { ApiTokens } from "./ApiTokens";
import { IngestTokens } from "./IngestTokens";

/** TokensPage is what programs reach Muster with: the reader's API tokens, and for administrators the ingest tokens. */
export function TokensPage() {
  const { can } = useSession();
  return (
    <>
      <PageTitle
        title="Tokens"
        lead="A token is shown only once, when it is created. Afterwards only its prefix is shown."
      />
      <Stack gap="xl">
        <ApiTokens />
        {can("admin") && <IngestTokens />}
      </Stack>
    </>
  );
}
