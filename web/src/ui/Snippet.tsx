import { Box, Button, Text } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useRef } from "react";
import classes from "./Snippet.module.css";

/**
 * Snippet is text to take elsewhere: a command, a configuration, a token. label says what it is, to a screen reader too.
 * Where the browser gives no clipboard, as over plain HTTP, Copy selects the text instead.
 */
export function Snippet({ label, text, wrapped = false }: { label: string; text: string; wrapped?: boolean }) {
  const shown = useRef<HTMLPreElement>(null);
  const clipboard = useClipboard({ timeout: 2_000 });
  const copy = () => {
    if (navigator.clipboard) return clipboard.copy(text);
    if (shown.current) getSelection()?.selectAllChildren(shown.current);
  };
  return (
    <div className={classes.snippet}>
      <div className={classes.head}>
        <Text size="sm" fw={500}>
          {label}
        </Text>
        <Button
          size="compact-sm"
          style={{ flex: "none" }}
          variant="default"
          leftSection={clipboard.copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
          aria-label={`Copy: ${label}`}
          onClick={copy}
        >
          {clipboard.copied ? "Copied" : "Copy"}
        </Button>
      </div>
      {/* what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
      <Box
        component="pre"
        ref={shown}
        className={`${classes.text} ${wrapped ? classes.wrapped : ""}`}
        tabIndex={0}
        role="region"
        aria-label={label}
      >
        {text}
      </Box>
    </div>
  );
}
