import { queryClient } from "../api/queries";

/** notificationsChanged has rules, channels and deliveries read anew, and what other pages say of them. */
export const notificationsChanged = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [method, path] }) =>
      method === "get" && /^\/api\/v1\/(channels|deliveries)|notification/.test(String(path)),
  });
