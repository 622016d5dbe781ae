import { TextInput } from "@mantine/core";
import { useEffect, useState } from "react";

const pad = (n: number) => String(n).padStart(2, "0");

/** localOf is an instant as the field of a date and time has it, in the reader's zone; empty is no instant. */
export function localOf(instant: string | undefined): string {
  if (!instant) return "";
  const at = new Date(instant);
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

/** instantOf is the reverse; undefined where there is no date, or not yet all of it. */
export function instantOf(local: string): string | undefined {
  const at = new Date(local);
  return local === "" || Number.isNaN(at.getTime()) || at.getFullYear() < 1970 ? undefined : at.toISOString();
}

/** InstantField is a date and a time in the reader’s zone; it counts once it is left, or at Enter, so that half a date asks nothing. */
export function InstantField({
  label,
  value,
  error,
  onCommit,
}: {
  label: string;
  value: string | undefined;
  error: string | null;
  onCommit: (at: string | undefined) => void;
}) {
  const [text, setText] = useState(localOf(value));
  useEffect(() => setText(localOf(value)), [value]);
  const commit = () => {
    if (text !== localOf(value)) onCommit(instantOf(text));
  };
  return (
    <TextInput
      type="datetime-local"
      label={label}
      value={text}
      error={error}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === "Enter" && commit()}
      w={{ base: "100%", sm: 200 }}
    />
  );
}
