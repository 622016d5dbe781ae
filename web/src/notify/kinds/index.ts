import type { Schemas } from "../../api/client";
import { alertmanager } from "./alertmanager";
import { chat } from "./chat";
import { email } from "./email";
import type { ChannelKind } from "./kind";
import { pagerduty } from "./pagerduty";
import { team } from "./team";
import { teams } from "./teams";
import { webhook } from "./webhook";

/** The kinds of channels in the order of the form. The compiler names one that the API has and this list has not. */
export const kinds: Record<Schemas["ChannelKind"], ChannelKind> = {
  email,
  team,
  webhook,
  chat,
  alertmanager,
  teams,
  pagerduty,
};

/** mails says that a kind sends e-mails to members. */
export const mails = (kind: string) => kindOf(kind)?.protocol === "SMTP";

/** kindOf is the kind of a channel; undefined: a newer server has one that these pages do not know. */
export const kindOf = (kind: string): ChannelKind | undefined => (kinds as Record<string, ChannelKind>)[kind];
