import { Center, Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Outlet, useMatches } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useAway } from "../api/away";
import { type Role, sessionQuery, signedIn } from "../api/session";
import { ProblemNote } from "../ui/ProblemNote";
import { part } from "../ui/part";
import { AwayBanner } from "./Away";
import { Forbidden } from "./Forbidden";
import { admits } from "./navigation";
import { ScopeNotice } from "./ScopeNotice";
import { SearchNotices } from "./SearchNotices";
import { Shell } from "./Shell";
import { TeamScope } from "./TeamScope";

// Whoever is signed in does not need it.
const SignIn = lazy(() => part(() => import("../access/SignIn")).then((m) => ({ default: m.SignIn })));

/** App is what every address has around it: who is signed in decides between the sign-in and the shell. */
export function App() {
  const session = useQuery(sessionQuery);
  const away = useAway();
  const matches = useMatches();
  const page = matches[matches.length - 1]?.staticData ?? {};
  const waiting = (
    <Center h="100dvh">
      <Loader aria-label="Loading" />
    </Center>
  );
  if (session.isPending) return waiting;
  if (!session.data) {
    return (
      <Center h="100dvh" p="md">
        {away ? (
          <AwayBanner blank />
        ) : (
          <ProblemNote error={session.error} title="Muster cannot be opened" onRetry={() => session.refetch()} />
        )}
      </Center>
    );
  }
  if (page.public) {
    return (
      <>
        <AwayBanner />
        <Outlet />
      </>
    );
  }
  const who = signedIn(session.data);
  if (!who) {
    return (
      <Suspense fallback={waiting}>
        <AwayBanner />
        <SignIn session={session.data} />
      </Suspense>
    );
  }
  const role = who.member.role as Role;
  const allowed = admits(page, { role, can: (permission) => who.permissions.includes(permission) });
  return (
    <Shell scoped={page.scoped === true} ofTeam={allowed && page.team !== undefined}>
      <SearchNotices />
      {page.scoped && allowed && <ScopeNotice />}
      {allowed ? (
        <TeamScope by={page.team}>
          <Outlet />
        </TeamScope>
      ) : (
        <Forbidden title={page.title ?? "This page"} role={who.member.role} />
      )}
    </Shell>
  );
}
