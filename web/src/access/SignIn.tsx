import { Alert, Stack } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Schemas } from "../api/client";
import { sessionQuery } from "../api/session";
import { AccessFrame } from "./AccessFrame";
import { refused } from "./refusal";
import { AccountHelp, SignInForm } from "./SignInForm";

/** SignIn stands in the place of any page until somebody is signed in; the address stays what it is. */
export function SignIn({ session }: { session: Schemas["Session"] }) {
  const queries = useQueryClient();
  useEffect(() => {
    // Whoever signs in next may be somebody else: nothing that the last one saw is kept for them.
    queries.removeQueries({ predicate: (query) => query.queryKey[0] !== sessionQuery.queryKey[0] });
  }, [queries]);
  return (
    <AccessFrame title={session.setupRequired ? "Set up Muster" : "Sign in"}>
      <Stack>
        {refused !== null && (
          <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />} title="Sign-in failed">
            {refused}
          </Alert>
        )}
        <SignInForm session={session} />
        {!session.setupRequired && <AccountHelp />}
      </Stack>
    </AccessFrame>
  );
}
