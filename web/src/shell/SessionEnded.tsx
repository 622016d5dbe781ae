import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { client, type Schemas } from "../api/client";
import { sessionEnded } from "../api/queries";
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
  useEffect(() => {
    let asking = false;
    const ask = async () => {
      const id = memberOf(queries);
      // A 401 to somebody who is not signed in is no news, and neither is the second of one page.
      if (asking || id === null) return;
      asking = true;
      try {
        // Also a wrong password is a 401: who is signed in says whether it is the session that ended.
        const { data } = await client.GET("/api/v1/session");
        const now = signedIn(data);
        if (data && !now) {
          member.current = id;
          setAnonymous(data);
        } else if (now && now.member.id !== id) location.reload();
      } catch {
        // Not reachable: the page says so itself, and the next answer asks again.
      } finally {
        asking = false;
      }
    };
    return sessionEnded.listen(ask);
  }, [queries]);
  useEffect(() => whenSignedOutElsewhere(() => location.reload()), []);

  const done = () => {
    if (memberOf(queries) !== member.current) return location.reload();
    setAnonymous(null);
    readAgain(queries);
  };
  if (!anonymous) return null;
  return (
    <Suspense fallback={null}>
      <SignInDialog session={anonymous} onSignedIn={done} />
    </Suspense>
  );
}
