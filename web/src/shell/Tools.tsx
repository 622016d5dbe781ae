import { TrayMenu } from "../reports/TrayMenu";
import { AccountMenu } from "./AccountMenu";
import { ThemeMenu } from "./ThemeMenu";

/** Tools is what the top bar has on every page: files, light or dark, and who is signed in. */
export default function Tools({ onShortcuts }: { onShortcuts: () => void }) {
  return (
    <>
      <TrayMenu />
      <ThemeMenu />
      <AccountMenu onShortcuts={onShortcuts} />
    </>
  );
}
