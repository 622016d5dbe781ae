import { Text } from "@mantine/core";

type Place = { instance: { name: string } | null; database: { name: string } | null };

/** Where says which server and database something is about; what is about neither is the whole organization's. */
export function Where({ instance, database }: Place) {
  if (!instance) {
    return (
      <Text size="sm" c="dimmed" span>
        Whole organization
      </Text>
    );
  }
  return (
    <Text size="sm" span>
      <bdi>{instance.name}</bdi>
      {database && (
        <Text size="sm" c="dimmed" span>
          {" · "}
          <bdi>{database.name}</bdi>
        </Text>
      )}
    </Text>
  );
}
