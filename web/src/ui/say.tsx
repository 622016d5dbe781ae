import { IconAlertTriangle, IconCheck } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { asProblem } from "../api/problem";
import { toast } from "./toast";

/** say tells in a toast what was just done; a screen reader reads it out. */
export function say(message: ReactNode, title?: string) {
  void toast({
    message,
    title,
    color: "muster",
    icon: <IconCheck size={18} aria-hidden />,
    autoClose: 8_000,
    closeButtonProps: { "aria-label": "Dismiss" },
  });
}

/** sayProblem tells in a toast why something could not be done. */
export function sayProblem(error: unknown, title = "That did not work") {
  void toast({
    message: asProblem(error).message,
    title,
    color: "red",
    icon: <IconAlertTriangle size={18} aria-hidden />,
    autoClose: 12_000,
    closeButtonProps: { "aria-label": "Dismiss" },
  });
}
