import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, type Schemas } from "./client";

export type Role = "team" | "viewer" | "member" | "auditor" | "admin";

export type Reader = { role: Role; can: (permission: string) => boolean };

/** standing is what somebody is to the servers that they see: for the role team, what their teams let them do. */
export const standing = ({ role, can }: Reader): Role =>
  role === "team" ? (can("reports:create") ? "member" : "viewer") : role;

/** SignedIn is a session of somebody, with everything there that an anonymous one lacks. */
export type SignedIn = {
  member: Schemas["Member"];
  organization: Schemas["Organization"];
  permissions: string[];
  authMethod: string;
  expiresAt: string;
  /** Where e-mails go; outbox: no mail server is set, and they are kept. */
  mail: "server" | "outbox";
  /** How the servers were as the session was read, for those who may list them. */
  servers?: Schemas["SessionServers"];
  /** Whether anybody was told of alerts as the session was read; for administrators. */
  alertsTold?: boolean;
};

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal }) => (await client.GET("/api/v1/session", { signal })).data as Schemas["Session"],
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
  // Nothing is shown before it is known: a failure has to be told.
  networkMode: "always",
});

/** signedIn is the session where somebody is signed in, else null. */
export function signedIn(session: Schemas["Session"] | undefined): SignedIn | null {
  return session?.authenticated ? (session as unknown as SignedIn) : null;
}

/** useSession is who is signed in. It is for what stands inside the shell, where somebody always is. */
export function useSession(): SignedIn & { can: (permission: string) => boolean; role: Role } {
  const { data } = useQuery(sessionQuery);
  const session = signedIn(data);
  if (!session) throw new Error("nobody is signed in");
  return {
    ...session,
    role: session.member.role as Role,
    can: (permission) => session.permissions.includes(permission),
  };
}

/** So old may be what the session said of what changes to be shown as what is so. Milliseconds. */
const fresh = 15_000;

function useFirst<V>(of: (session: SignedIn) => V | undefined): V | null {
  const { data, dataUpdatedAt } = useQuery(sessionQuery);
  const [isFresh] = useState(() => Date.now() - dataUpdatedAt < fresh);
  const session = isFresh ? signedIn(data) : null;
  return (session && of(session)) ?? null;
}

/**
 * useServersAtFirst is how the servers were as the session was read, for a page whose list of them is on its way. A page
 * that is opened later gets nothing.
 */
export const useServersAtFirst = (): Schemas["SessionServers"] | null => useFirst((session) => session.servers);

/** useToldAtFirst is whether alerts were told of as the session was read, likewise. */
export const useToldAtFirst = (): boolean | null => useFirst((session) => session.alertsTold);
