import type { ChannelKind } from "./kind";

export const alertmanager: ChannelKind = {
  title: "Alertmanager",
  address: {
    description: "Muster keeps this Alertmanager fed with the alerts that match. Routing and silences stay there.",
    placeholder: "http://alertmanager.example.org:9093",
  },
  alertsOnly: true,
  body: () => ({}),
};
