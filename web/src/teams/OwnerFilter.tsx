import { Select } from "@mantine/core";
import { api } from "../api/client";

/** OwnerFilter chooses the team whose servers are shown. Without teams it is not there. */
export function OwnerFilter({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (team: string | undefined) => void;
}) {
  const { data } = api.useQuery("get", "/api/v1/teams");
  const teams = data?.items ?? [];
  if (teams.length === 0 && !value) return null;
  const gone = value && data && !teams.some((team) => team.id === value); // a team that was removed stays in the filter
  return (
    <Select
      aria-label="Owner"
      placeholder="All owners"
      data={[
        ...teams.map((team) => ({ value: team.id, label: team.name })),
        ...(gone ? [{ value, label: "A removed team" }] : []),
      ]}
      value={value ?? null}
      onChange={(team) => onChange(team ?? undefined)}
      clearable
      clearButtonProps={{ "aria-label": "All owners" }}
      style={{ flex: "1 1 10rem", maxWidth: "16rem" }}
    />
  );
}
