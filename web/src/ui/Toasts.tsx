import "@mantine/notifications/styles.css";
import { Notifications } from "@mantine/notifications";

/** Toasts is where toasts appear. */
export default function Toasts() {
  return <Notifications position="bottom-right" limit={4} />;
}
