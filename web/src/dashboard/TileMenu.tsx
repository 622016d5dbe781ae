import { ActionIcon, Menu } from "@mantine/core";
import { IconBell, IconChartLine, IconCopy, IconDots, IconTable } from "@tabler/icons-react";
import classes from "./dashboard.module.css";

/** TileMenu is what else a tile can do. */
export function TileMenu({
  title,
  table,
  onTable,
  marks,
  onMarks,
  onCopy,
}: {
  title: string;
  table: boolean;
  onTable: (table: boolean) => void;
  /** Whether alerts are marked, on every chart. */
  marks: boolean;
  onMarks: () => void;
  /** undefined while there is nothing to copy or to show in another way. */
  onCopy?: () => void;
}) {
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" className={classes.menu} aria-label={`${title}: more`}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          disabled={!onCopy}
          leftSection={table ? <IconChartLine size={16} aria-hidden /> : <IconTable size={16} aria-hidden />}
          onClick={() => onTable(!table)}
        >
          {table ? "Show as chart" : "Show as table"}
        </Menu.Item>
        <Menu.Item leftSection={<IconBell size={16} aria-hidden />} onClick={onMarks}>
          {marks ? "Hide alerts on charts" : "Show alerts on charts"}
        </Menu.Item>
        <Menu.Item disabled={!onCopy} leftSection={<IconCopy size={16} aria-hidden />} onClick={onCopy}>
          Copy as CSV
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
