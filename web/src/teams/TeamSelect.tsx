import { MultiSelect } from "@mantine/core";
import type { ReactNode } from "react";
import { api } from "../api/client";

/** TeamSelect chooses teams. Without teams it is not there. */
export function TeamSelect({
  id,
  label,
  none,
  description,
  value,
  onChange,
  error,
}: {
  id?: string;
  label: string;
  /** What no team means. */
  none: string;
  description?: string;
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
      id={id}
      label={label}
      description={description}
      placeholder={value.length === 0 ? none : undefined}
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
