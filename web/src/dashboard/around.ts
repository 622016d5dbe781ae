// What stands around the charts, loaded after the first of them.

export { Digest } from "./Digest";
export { Kpis } from "./Kpis";
export { Overdue } from "./Overdue";
