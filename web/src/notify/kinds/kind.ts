import type { UseFormReturnType } from "@mantine/form";
import type { ComponentType } from "react";
import type { Schemas } from "../../api/client";
import type { Channel } from "../words";

/** What the form of a channel holds, whatever its kind. */
export type Values = {
  name: string;
  kind: string;
  memberIds: string[];
  administrators: boolean;
  addresses: string[];
  url: string;
  secret: string;
  format: string;
};

export interface FieldsProps {
  form: UseFormReturnType<Values>;
  /** The channel that is changed; null: a new one. */
  channel: Channel | null;
}

/** A kind of channel on the pages. Its title is that of internal/notify/channel. */
export interface ChannelKind {
  title: string;
  /** It has an address, and how the form asks for it. */
  address?: { description: string; placeholder: string };
  /** The address is a secret: the API shows its host alone. */
  hidesAddress?: true;
  /** Its receiver takes alerts, and neither reports nor findings. */
  alertsOnly?: true;
  /** The protocol of the codes that it answers; HTTP unless said. */
  protocol?: "SMTP";
  /** What the form asks beside name and address. */
  Fields?: ComponentType<FieldsProps>;
  noMembers?: (values: Values) => string | null;
  noSecret?: (secret: string) => string | null;
  /** The members of the request, beside name and address. */
  body: (values: Values) => Partial<Schemas["ChangeChannel"]>;
}
