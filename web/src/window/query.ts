import type { Window } from "./window";

/** Servers is which servers a page is about: those of the ids that have the tags; neither is the whole organization. */
export type Servers = { instanceId?: string[]; tag?: string[] };

/** serversOf is the part of an address that chooses servers. */
export const serversOf = ({ instanceId, tag }: Servers): Servers => ({
  ...(instanceId && { instanceId }),
  ...(tag && { tag }),
});

/** Filter is which servers an address chooses: those of a team, and of them those that Servers leaves. */
export type Filter = Servers & { owner?: string };

/** filterOf is the part of an address that chooses servers, with the team. */
export const filterOf = ({ owner, ...servers }: Filter): Filter => ({ ...(owner && { owner }), ...serversOf(servers) });

/** namesNone says that a filter has no readable value: it matches nothing. */
export const namesNone = ({ instanceId, tag }: Servers) => instanceId?.length === 0 || tag?.length === 0;

/** windowQuery is the window and the filter as the three measured tiles ask for them, the same to the byte. */
export const windowQuery = ({ window: { from, to, bucketSize }, servers }: { window: Window; servers: Servers }) => ({
  from,
  to,
  bucketSize,
  ...servers,
});
