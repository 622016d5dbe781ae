import { Select } from "@mantine/core";
import { IconChevronDown, IconUsersGroup } from "@tabler/icons-react";
import { api } from "../api/client";
import { useSession } from "../api/session";
import { useScope } from "../window/scope";
import { choices } from "./teamChoices";

/** More teams than this are found by typing. */
const few = 8;

/** TeamSwitcher chooses the team whose servers all pages are about. Without teams it is not there. */
export function TeamSwitcher() {
  const { filter, setOwner } = useScope();
  const { member } = useSession();
  const { data } = api.useQuery("get", "/api/v1/teams");
  const teams = data && choices(data.items, member, filter.owner);
  if (!teams || teams.length < 2) return null;
  return (
    <Select
      className="shell-team"
      size="xs"
      aria-label="Team"
      leftSection={<IconUsersGroup size={16} aria-hidden />}
      rightSection={<IconChevronDown size={14} aria-hidden />}
      data={teams}
      value={filter.owner ?? ""}
      onChange={(team) => setOwner(team || undefined)}
      allowDeselect={false}
      searchable={teams.length > few}
      nothingFoundMessage="No team matches"
      comboboxProps={{ width: 260, position: "bottom-start" }}
    />
  );
}
