import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { IconClockPin, IconLink, IconShare } from "@tabler/icons-react";
import { useRouter } from "@tanstack/react-router";
import { stringifySearch } from "../url/search";
import { useScope } from "../window/scope";
import { copy } from "./clipboard";

const byHand = " Copy the link from the address bar.";

/** ShareMenu copies the page's address: as it is, or with the present window as a fixed one. */
export function ShareMenu() {
  const router = useRouter();
  const { window: shown } = useScope();
  const fixed = () => {
    const { pathname, search } = router.state.location;
    const { from, to } = shown;
    return location.origin + pathname + stringifySearch({ ...search, range: undefined, from, to });
  };
  return (
    <Menu position="bottom-end" width={300} withinPortal>
      <Menu.Target>
        <Tooltip label="Share">
          <ActionIcon variant="default" size={32} aria-label="Share">
            <IconShare size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconLink size={16} aria-hidden />}
          onClick={() => copy(location.href, "Link copied. Its time range ends when the link is opened.", byHand)}
        >
          Copy link
        </Menu.Item>
        <Menu.Item
          leftSection={<IconClockPin size={16} aria-hidden />}
          onClick={() => copy(fixed(), "Link copied. It always shows exactly this time range.", byHand)}
        >
          Copy fixed link
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
