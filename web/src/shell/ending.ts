// How a session ends by its member's own will, in every tab of the browser at once.
import { client } from "../api/client";

const name = "muster-session";

/** signOut ends the session and loads the page anew in all tabs: nothing that was shown stays in their memory. */
export async function signOut(): Promise<void> {
  await client.DELETE("/api/v1/session");
  const channel = new BroadcastChannel(name);
  channel.postMessage("ended");
  channel.close();
  location.assign("/");
}

/** whenSignedOutElsewhere calls back when another tab signs out; the answer stops that. */
export function whenSignedOutElsewhere(tell: () => void): () => void {
  const channel = new BroadcastChannel(name);
  channel.onmessage = tell;
  return () => channel.close();
}
