import type { ChannelKind } from "./kind";

export const teams: ChannelKind = {
  title: "Microsoft Teams",
  address: {
    description:
      "The address of a workflow that posts to a channel when it receives a webhook request. It is a secret and is not shown again.",
    placeholder: "https://….logic.azure.com/workflows/…",
  },
  hidesAddress: true,
  body: () => ({}),
};
