import { ActionIcon, Menu, Text, Tooltip } from "@mantine/core";
import { IconKeyboard, IconLogout, IconUserCircle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useSession } from "../api/session";
import { sayProblem } from "../ui/say";
import { signOut } from "./ending";

const initials = (name: string) =>
  name
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => word.charAt(0).toUpperCase())
    .filter((_, at, all) => at === 0 || at === all.length - 1)
    .join("");

/** AccountMenu says who is signed in and as what, and signs out. */
export function AccountMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const { member } = useSession();
  return (
    <Menu position="bottom-end" width={240} withinPortal>
      <Menu.Target>
        <Tooltip label={member.name}>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Account: ${member.name}`}>
            <span className="shell-initials" data-initials={initials(member.name) || "?"} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)">
            {member.name}
          </Text>
          <Text size="xs">{member.email}</Text>
          <Text size="xs">Role: {member.role}</Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Item component={Link} to="/settings/account" leftSection={<IconUserCircle size={16} aria-hidden />}>
          Your account
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={16} aria-hidden />} onClick={onShortcuts}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLogout size={16} aria-hidden />}
          onClick={() => signOut().catch((refused) => sayProblem(refused, "You are still signed in"))}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
