import type { Schemas } from "../api/client";

type Reader = Pick<Schemas["Member"], "id" | "role">;

/**
 * choices are the teams to choose from, and all of them together. Somebody with the role team has the teams they are in.
 * A team that is chosen and no longer there stays chosen.
 */
export function choices(teams: Schemas["Team"][], reader: Reader, chosen: string | undefined) {
  const inTeams = reader.role === "team";
  const own = teams.filter(({ members }) => !inTeams || members.some(({ memberId }) => memberId === reader.id));
  const gone = chosen !== undefined && !own.some(({ id }) => id === chosen);
  return [
    { value: "", label: inTeams ? "All your teams" : "All teams" },
    ...own.map(({ id, name }) => ({ value: id, label: name })),
    ...(gone ? [{ value: chosen, label: teams.find(({ id }) => id === chosen)?.name ?? "A removed team" }] : []),
  ];
}
