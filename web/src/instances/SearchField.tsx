import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";

/** SearchField is what a list is searched for: told a quarter of a second after the last key, and put right by Back. */
export function SearchField({
  value,
  onSearch,
  label,
  main = false,
  narrow = false,
}: {
  value: string;
  onSearch: (text: string) => void;
  label: string;
  /** The page's search: "/" goes to it. */
  main?: boolean;
  narrow?: boolean;
}) {
  const [typed, setTyped] = useState(value);
  const told = useRef(value);
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setTyped(value);
  }, [value]);
  const tell = useDebouncedCallback((text: string) => {
    told.current = text;
    onSearch(text);
  }, 250);
  return (
    <TextInput
      type="search"
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        tell(event.currentTarget.value.trim());
      }}
      placeholder={label}
      aria-label={label}
      leftSection={<IconSearch size={16} aria-hidden />}
      maxLength={200}
      style={{ flex: narrow ? "0 1 18rem" : "1 1 14rem" }}
      {...(main && { "data-search": true })}
    />
  );
}
