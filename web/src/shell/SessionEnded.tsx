import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { client, type Schemas } from "../api/client";
import { sessionEnded } from "../api/ended";
import { sessionQuery, signedIn } from "../api/session";
import { part } from "../ui/part";
import { whenSignedOutElsewhere } from "./ending";

// Loaded when it is needed: while the session lasts it is not.
const SignInDialog = lazy(() => part(() => import("./SignInDialog")));

const memberOf = (queries: QueryClient) => signedIn(queries.getQueryData(sessionQuery.queryKey))?.member.id ?? null;

/** readAgain reads whatever the page shows anew, now that somebody is signed in. */
const readAgain = (queries: QueryClient) =>
  queries.invalidateQueries({ predicate: (query) => query.queryKey[0] !== sessionQuery.queryKey[0] });

/**
 * SessionEnded asks for the password when the session has run out under the page, which stays as it is behind the
 * dialog. Whoever signs in as somebody else gets the page loaded anew.
 */
export function SessionEnded() {
  const queries = useQueryClient();
  const [anonymous, setAnonymous] = useState<Schemas["Session"] | null>(null);
  const member = useRef<string | null>(null);
  // What was read with the ended session, and is read again with the next one.
  const waiting = useRef<((again: boolean) => void)[]>([]);
  const settle = (again: boolean) => {
    for (const resolve of waiting.current.splice(0)) resolve(again);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: settle reads a ref alone
  useEffect(() => {
    let asking = false;
    const ask = async () => {
      const id = memberOf(queries);
      // A 401 to somebody who is not signed in is no news, and the second of one page waits for the answer to the first.
      if (id === null) return settle(false);
      if (asking || member.current !== null) return;
      asking = true;
      try {
        // Also a wrong password is a 401: who is signed in says whether it is the session that ended.
        const { data } = await client.GET("/api/v1/session");
        const now = signedIn(data);
        if (data && !now) {
          member.current = id;
          setAnonymous(data);
        } else if (now && now.member.id !== id) location.reload();
        else settle(false);
      } catch {
        // Not reachable: the page says so itself, and the next answer asks again.
        settle(false);
      } finally {
        asking = false;
      }
    };
    return sessionEnded.listen(
      () =>
        new Promise((resolve) => {
          waiting.current.push(resolve);
          void ask();
        }),
    );
  }, [queries]);
  useEffect(() => whenSignedOutElsewhere(() => location.reload()), []);

  const done = () => {
    if (memberOf(queries) !== member.current) return location.reload();
    member.current = null;
    setAnonymous(null);
    settle(true);
    readAgain(queries);
  };
  if (!anonymous) return null;
  return (
    <Suspense fallback={null}>
      <SignInDialog
        session={anonymous}
        email={signedIn(queries.getQueryData(sessionQuery.queryKey))?.member.email ?? ""}
        onSignedIn={done}
      />
    </Suspense>
  );
}
