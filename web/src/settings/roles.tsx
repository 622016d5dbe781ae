import { Radio, Stack } from "@mantine/core";
import type { Role } from "../api/session";

/** What each role may do, the least first: the table of contract §12 in words. */
export const roles: { role: Role; name: string; may: string }[] = [
  {
    role: "team",
    name: "Team",
    may: "Can see the servers of their teams and nothing else. What they may do there is set in each team.",
  },
  {
    role: "viewer",
    name: "Viewer",
    may: "Can see the dashboard, alerts and the list of reports, and download reports they receive. Can see members' names, but not their addresses.",
  },
  {
    role: "member",
    name: "Member",
    may: "Can also act on alerts, request and download reports, and request exceptions.",
  },
  {
    role: "auditor",
    name: "Auditor",
    may: "Can see and download everything, including the audit list and operations, but change nothing.",
  },
  {
    role: "admin",
    name: "Administrator",
    may: "Can do everything: members, tokens, settings, instances, exceptions, operations.",
  },
];

/** roleName is a role as people say it; one that is not known here is its own name. */
export const roleName = (role: string) => roles.find((r) => r.role === role)?.name ?? role;

/** RoleChoice asks for a role and says what each may do. */
export function RoleChoice({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
  return (
    <Radio.Group label="Role" value={value} onChange={(chosen) => onChange(chosen as Role)}>
      <Stack gap="xs" mt={6}>
        {roles.map(({ role, name, may }) => (
          <Radio key={role} value={role} label={name} description={may} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
