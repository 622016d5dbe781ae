import { ActionIcon, type MantineColorScheme, Menu, Tooltip, useMantineColorScheme } from "@mantine/core";
import { IconDeviceDesktop, IconMoon, IconSun } from "@tabler/icons-react";

const schemes = [
  { value: "light", name: "Light", Icon: IconSun },
  { value: "dark", name: "Dark", Icon: IconMoon },
  { value: "auto", name: "Same as system", Icon: IconDeviceDesktop },
] as const satisfies { value: MantineColorScheme; name: string; Icon: typeof IconSun }[];

/** ThemeMenu chooses light or dark, or follows the system. The choice stays in the browser; theme.js reads it first. */
export function ThemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const current = schemes.find((s) => s.value === colorScheme) ?? schemes[2];
  return (
    <Menu position="bottom-end" width={200} withinPortal>
      <Menu.Target>
        <Tooltip label={`Theme: ${current.name.toLowerCase()}`}>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Theme: ${current.name.toLowerCase()}`}>
            <current.Icon size={20} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)}>
          {schemes.map(({ value, name, Icon }) => (
            <Menu.RadioItem key={value} value={value} rightSection={<Icon size={16} aria-hidden />} closeMenuOnClick>
              {name}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}
