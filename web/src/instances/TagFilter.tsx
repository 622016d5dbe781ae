import { MultiSelect } from "@mantine/core";
import { api } from "../api/client";

/** TagFilter chooses tags: of one key any of the values will do, and each key must match. */
export function TagFilter({ value, onChange }: { value: string[]; onChange: (tags: string[]) => void }) {
  const { data } = api.useQuery("get", "/api/v1/tags");
  const keys = data?.items ?? [];
  const known = keys.flatMap((k) => k.values.map((v) => `${k.key}:${v.value}`));
  const gone = value.filter((word) => !known.includes(word)); // a tag that no server has any more stays in the filter
  if (keys.length === 0 && value.length === 0) return null;
  return (
    <MultiSelect
      aria-label="Tags"
      placeholder={value.length > 0 ? undefined : "All tags"}
      data={[
        ...keys.map((k) => ({
          group: k.key,
          items: k.values.map((v) => ({ value: `${k.key}:${v.value}`, label: `${k.key}:${v.value}` })),
        })),
        ...(gone.length > 0
          ? [{ group: "On no server", items: gone.map((word) => ({ value: word, label: word })) }]
          : []),
      ]}
      value={value}
      onChange={onChange}
      searchable
      clearable
      clearButtonProps={{ "aria-label": "All tags" }}
      style={{ flex: "1 1 12rem", maxWidth: "22rem" }}
    />
  );
}
