import { Skeleton, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { client } from "../api/client";
import { useSession } from "../api/session";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { OrganizationForm } from "./OrganizationForm";
import { formOf, groups, type SettingsForm, settings, written } from "./settingsForm";

/** Current is the settings and the ETag under which they were read, which a change has to bring along. */
export type Current = { form: SettingsForm; etag: string };

async function read(signal?: AbortSignal): Promise<Current> {
  const { data, response } = await client.GET("/api/v1/organization", { signal });
  if (!data) throw new Error("the organization came without its settings");
  return { form: formOf(data), etag: response.headers.get("ETag") ?? "*" };
}

/** OrganizationPage is the organization's settings: to change for administrators, to read for everybody. */
export function OrganizationPage() {
  const { can } = useSession();
  const current = useQuery({
    queryKey: ["organization settings"],
    queryFn: ({ signal }) => read(signal),
    staleTime: 0,
    gcTime: 0, // the form begins with what is in force, never with what was when the page was left
  });
  return (
    <>
      <PageTitle
        title="Organization"
        lead={
          can("admin")
            ? "Settings for the whole organization."
            : "Settings for the whole organization. Only administrators can change them."
        }
      />
      <div style={{ maxWidth: 720 }}>
        {current.isPending && <Skeleton height={640} radius="md" />}
        {current.isError && (
          <ProblemNote error={current.error} title="Settings could not be loaded" onRetry={() => current.refetch()} />
        )}
        {current.data &&
          (can("admin") ? (
            <OrganizationForm current={current.data} onReload={() => read()} />
          ) : (
            <ReadOnly form={current.data.form} />
          ))}
      </div>
    </>
  );
}

function ReadOnly({ form }: { form: SettingsForm }) {
  return (
    <Stack>
      {groups.map((group) => (
        <Panel key={group.name}>
          <Title order={2} mb="xs">
            {group.name}
          </Title>
          <Table variant="vertical" withRowBorders={false} layout="auto">
            <Table.Tbody>
              {group.of.map((setting) => (
                <Table.Tr key={setting}>
                  <Table.Th scope="row" bg="transparent" pl={0}>
                    {settings[setting].label}
                    <Text size="xs" c="dimmed" fw={400}>
                      {settings[setting].does}
                    </Text>
                  </Table.Th>
                  <Table.Td ta="right" className="numbers">
                    {written(setting, form[setting])}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Panel>
      ))}
    </Stack>
  );
}
