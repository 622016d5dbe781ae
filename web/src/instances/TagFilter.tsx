import { MultiSelect } from "@mantine/core";
import { api } from "../api/client";

type Props = {
  /** Where it stands alone its name is not seen. */
  label?: string;
  value: string[];
  onChange: (tags: string[]) => void;
  /** It stands in a popover, which a click on its list is not to close. */
  within?: boolean;
};

/** TagFilter chooses tags: of one key any of the values will do, and each key must match. */
export function TagFilter({ label, value, onChange, within = false }: Props) {
  const { data } = api.useQuery("get", "/api/v1/tags");
  const keys = data?.items ?? [];
  const known = keys.flatMap((k) => k.values.map((v) => `${k.key}:${v.value}`));
  const gone = value.filter((word) => !known.includes(word)); // a tag that no server has any more stays in the filter
  if (keys.length === 0 && value.length === 0) return null;
  return (
    <MultiSelect
      label={label}
      aria-label={label ? undefined : "Tags"}
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
      comboboxProps={{ withinPortal: !within }}
      style={within ? { marginTop: 8 } : { flex: "1 1 9rem", minWidth: 0, maxWidth: "22rem" }}
    />
  );
}
