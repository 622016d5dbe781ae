import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { useId } from "react";

/**
 * PasswordField is Mantine's PasswordInput, which alone of its fields ties neither its error nor its description to the
 * input (9.7): a screen reader would hear of neither (WCAG 3.3.1). name is what the toggle shows: "the password".
 */
export function PasswordField({ name = "the password", ...props }: PasswordInputProps & { name?: string }) {
  const id = useId();
  const described = [props.error && `${id}-error`, props.description && `${id}-description`].filter(Boolean).join(" ");
  return (
    <PasswordInput
      maxLength={1000}
      aria-invalid={props.error ? true : undefined}
      aria-describedby={described || undefined}
      errorProps={{ id: `${id}-error` }}
      descriptionProps={{ id: `${id}-description` }}
      visibilityToggleButtonProps={{ "aria-label": `Show ${name}` }}
      {...props}
    />
  );
}
