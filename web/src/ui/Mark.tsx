import type { ReactNode } from "react";
import classes from "./Mark.module.css";

export type Tone = "good" | "busy" | "quiet" | "warning" | "bad";

/** Mark is a state: its icon and its name, of which the colour says no more than they do. */
export function Mark({ tone, icon, children }: { tone: Tone; icon: ReactNode; children: ReactNode }) {
  return (
    <span className={`${classes.mark} ${classes[tone]}`} data-tone={tone}>
      {icon}
      <span>{children}</span>
    </span>
  );
}
