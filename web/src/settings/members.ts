import { api, type Schemas } from "../api/client";
import { queryClient } from "../api/queries";

/** membersChanged has every list of members read anew. */
export const membersChanged = () => queryClient.invalidateQueries({ queryKey: ["get", "/api/v1/members"] });

/** lastAdminOf is the only active administrator among all members; null where there are several, or not all are known. */
export function lastAdminOf(everybody: Schemas["MemberPage"] | undefined): string | null {
  if (!everybody || everybody.page.totalPages > 1) return null;
  const admins = everybody.items.filter((m) => m.role === "admin" && m.status === "active");
  return admins.length === 1 ? (admins[0]?.id ?? null) : null;
}

/** useLastAdmin is the id of the member who must stay an administrator; null where it cannot be said. */
export function useLastAdmin(enabled: boolean): string | null {
  const everybody = api.useQuery("get", "/api/v1/members", { params: { query: { pageSize: 200 } } }, { enabled });
  return enabled ? lastAdminOf(everybody.data) : null;
}
