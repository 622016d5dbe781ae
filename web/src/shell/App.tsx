import { Center, Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Outlet, useMatches } from "@tanstack/react-router";
import { SignIn } from "../access/SignIn";
import { sessionQuery, signedIn } from "../api/session";
import { ProblemNote } from "../ui/ProblemNote";
import { Forbidden } from "./Forbidden";
import { ScopeNotice } from "./ScopeNotice";
import { SearchNotices } from "./SearchNotices";
import { Shell } from "./Shell";

/** App is what every address has around it: who is signed in decides between the sign-in and the shell. */
export function App() {
  const session = useQuery(sessionQuery);
  const matches = useMatches();
  const page = matches[matches.length - 1]?.staticData ?? {};
  if (session.isPending) {
    return (
      <Center h="100dvh">
        <Loader aria-label="Loading" />
      </Center>
    );
  }
  if (session.isError) {
    return (
      <Center h="100dvh" p="md">
        <ProblemNote error={session.error} title="Muster cannot be reached" onRetry={() => session.refetch()} />
      </Center>
    );
  }
  if (page.public) return <Outlet />;
  const who = signedIn(session.data);
  if (!who) return <SignIn session={session.data} />;
  const allowed = !page.permission || who.permissions.includes(page.permission);
  return (
    <Shell scoped={page.scoped === true}>
      <SearchNotices />
      {page.scoped && allowed && <ScopeNotice />}
      {allowed ? <Outlet /> : <Forbidden title={page.title ?? "This page"} role={who.member.role} />}
    </Shell>
  );
}
