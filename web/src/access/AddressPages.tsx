import { Alert, Button, Stack, Text } from "@mantine/core";
import { IconCircleCheck, IconMailOff } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { client, type Schemas } from "../api/client";
import { asProblem } from "../api/problem";
import { ProblemNote } from "../ui/ProblemNote";
import { AccessFrame } from "./AccessFrame";
import { useFragmentToken } from "./fragment";

type Answer = Schemas["AddressAnswer"] | undefined;

/** ConfirmAddressPage is where the link leads that asks an address whether it agrees to get alerts. */
export const ConfirmAddressPage = () => (
  <AddressPage
    title="Alerts by e-mail"
    says="An administrator asked Muster to send alerts to this e-mail address. Muster sends nothing more before you confirm."
    verb="Confirm the address"
    send={async (token) => (await client.POST("/api/v1/channel-addresses/confirmation", { body: { token } })).data}
    done={({ organization, channel }) => `Alerts of ${organization} (${channel}) are sent to this address from now on.`}
  />
);

/** LeaveAddressPage is where the link leads with which an address stops the e-mails. */
export const LeaveAddressPage = () => (
  <AddressPage
    title="Stop alerts by e-mail"
    says="Muster sends alerts to this e-mail address."
    verb="Stop these e-mails"
    send={async (token) => (await client.POST("/api/v1/channel-addresses/departure", { body: { token } })).data}
    done={({ organization, channel }) => `No more alerts of ${organization} (${channel}) are sent to this address.`}
  />
);

type Asked = {
  title: string;
  says: string;
  verb: string;
  send: (token: string) => Promise<Answer>;
  done: (answer: NonNullable<Answer>) => string;
};

/** AddressPage asks before it acts: programs that look at mails open their links. */
function AddressPage({ title, says, verb, send, done }: Asked) {
  const token = useFragmentToken();
  const act = useMutation({ mutationFn: () => send(token) });
  const gone = act.error !== null && asProblem(act.error).status === 410;
  return (
    <AccessFrame title={title}>
      <Stack>
        {token === "" && <Text size="sm">This link is incomplete: the part after the # is missing.</Text>}
        {gone && (
          <Alert color="yellow" role="alert" icon={<IconMailOff aria-hidden />} title="This link no longer works">
            It was already used, is too old, or the address is no longer in the channel.
          </Alert>
        )}
        {act.error && !gone && <ProblemNote error={act.error} />}
        {act.data && (
          <Alert color="green" role="status" icon={<IconCircleCheck aria-hidden />} title="Done">
            {done(act.data)}
          </Alert>
        )}
        {token !== "" && !gone && !act.data && (
          <>
            <Text size="sm">{says}</Text>
            <Button loading={act.isPending} onClick={() => act.mutate()}>
              {verb}
            </Button>
          </>
        )}
      </Stack>
    </AccessFrame>
  );
}
