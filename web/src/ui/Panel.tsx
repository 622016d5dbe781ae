import { Paper, type PaperProps } from "@mantine/core";
import type { ReactNode } from "react";

/** Panel is the surface on which everything stands that is not the page itself. */
export function Panel({ children, ...rest }: PaperProps & { children: ReactNode }) {
  return (
    <Paper withBorder p="md" {...rest}>
      {children}
    </Paper>
  );
}
