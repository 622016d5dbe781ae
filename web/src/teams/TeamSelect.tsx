import { MultiSelect } from "@mantine/core";
import type { ReactNode } from "react";
import { api } from "../api/client";

/** TeamSelect chooses the teams that own the servers; none is all of them. Without teams it is not there. */
export function TeamSelect({
  value,
  onChange,
  error,
}: {
  value: string[];
  onChange: (ids: string[]) => void;
  error: ReactNode;
}) {
  const { data } = api.useQuery("get", "/api/v1/teams");
  const teams = data?.items ?? [];
  if (teams.length === 0 && value.length === 0) return null;
  const gone = data ? value.filter((id) => !teams.some((team) => team.id === id)) : [];
  return (
    <MultiSelect
      label="Servers owned by teams (optional)"
      placeholder={value.length === 0 ? "Every team, and servers without an owner" : undefined}
      data={[
        ...teams.map((team) => ({ value: team.id, label: team.name })),
        ...gone.map((id) => ({ value: id, label: "A removed team" })),
      ]}
      value={value}
      onChange={onChange}
      error={error}
      searchable
    />
  );
}
