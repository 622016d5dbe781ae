import type { components } from "../api/schema";
import { byKey, words } from "../url/tagWords";

export type Team = components["schemas"]["Team"];
export type TeamRole = components["schemas"]["TeamMember"]["role"];

/** TeamForm is a team while it is edited: tags as words ("env:prod"), of one key as many as it has values. */
export type TeamForm = {
  name: string;
  tags: string[];
  instanceIds: string[];
  memberIds: string[];
  roles: Record<string, TeamRole>;
};

export const newTeam: TeamForm = { name: "", tags: [], instanceIds: [], memberIds: [], roles: {} };

export const formOf = (team: Team): TeamForm => ({
  name: team.name,
  tags: words(team.selector.tags ?? {}),
  instanceIds: team.selector.instanceIds ?? [],
  memberIds: team.members.map((m) => m.memberId),
  roles: Object.fromEntries(team.members.map((m) => [m.memberId, m.role])),
});

export function bodyOf(form: TeamForm) {
  return {
    name: form.name.trim(),
    selector: { tags: byKey(form.tags), instanceIds: form.instanceIds },
    members: form.memberIds.map((memberId) => ({ memberId, role: form.roles[memberId] ?? ("member" as const) })),
  };
}

/** selects says in words which servers a team, or a maintenance window, has. */
export function selects(team: Pick<Team, "selector">): string {
  const tags = Object.entries(team.selector.tags ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const byTags = tags.map(([key, values]) => `${key}: ${values.join(" or ")}`).join(", and ");
  const byHand = team.selector.instanceIds?.length ?? 0;
  const servers = `${byHand} ${byHand === 1 ? "server" : "servers"} chosen by hand`;
  if (byTags === "") return byHand === 0 ? "No servers are selected." : `${servers}.`;
  return byHand === 0 ? `Servers with ${byTags}.` : `Servers with ${byTags}; and ${servers}.`;
}
