import { Modal, Text } from "@mantine/core";
import { SignInForm } from "../access/SignInForm";
import type { Schemas } from "../api/client";

/** SignInDialog asks for the password over the page, and does not go away without it. */
export default function SignInDialog({
  session,
  email,
  onSignedIn,
}: {
  session: Schemas["Session"];
  email: string;
  onSignedIn: () => void;
}) {
  return (
    <Modal
      opened
      onClose={() => {}}
      title="Your session has ended"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      size="sm"
    >
      <Text size="sm" mb="md">
        Sign in again to continue where you were. Nothing on the page is lost.
      </Text>
      <SignInForm session={session} email={email} onSignedIn={onSignedIn} />
    </Modal>
  );
}
