import type { PasswordInputProps } from "@mantine/core";
import { PasswordField } from "../ui/PasswordField";

/** NewPassword asks for a password that is to be set, and says what a good one is. */
export function NewPassword(props: PasswordInputProps) {
  return (
    <PasswordField
      label="Password"
      autoComplete="new-password"
      description="At least 12 characters. Four unrelated words are stronger than a short password with special characters."
      {...props}
    />
  );
}

/** shortPassword refuses what the server would refuse for its length; the rest is the server's to judge. */
export const shortPassword = (password: string) =>
  [...password].length < 12 ? "The password needs at least 12 characters." : null;

/** empty refuses a text without a letter in it. */
export const empty = (what: string) => (value: string) => (value.trim() === "" ? `Enter ${what}.` : null);

/** noAddress refuses what cannot be an e-mail address. */
export const noAddress = (value: string) =>
  /^[^@\s]+@[^@\s]+$/.test(value.trim()) ? null : "Enter an e-mail address, for example ana@example.org.";
