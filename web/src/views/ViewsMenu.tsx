import { ActionIcon, Loader, Menu, ScrollArea, Text, Tooltip } from "@mantine/core";
import { IconBookmark, IconCheck, IconPlus, IconSettings } from "@tabler/icons-react";
import { Link, useRouterState } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { api } from "../api/client";
import { useSession } from "../api/session";
import { ProblemNote } from "../ui/ProblemNote";
import { part } from "../ui/part";
import { isOwn, mayChange, partsOf, queryOf, type View } from "./view";

const dialogs = () => part(() => import("./ViewDialogs"));
const SaveView = lazy(() => dialogs().then((m) => ({ default: m.SaveView })));
const ManageViews = lazy(() => dialogs().then((m) => ({ default: m.ManageViews })));

/** ViewsMenu leads to pages that were kept under a name, and keeps the present one. */
export function ViewsMenu() {
  const session = useSession();
  const [opened, setOpened] = useState(false);
  const [dialog, open] = useState<"save" | "manage" | null>(null);
  const views = api.useQuery("get", "/api/v1/views", {}, { enabled: opened || dialog !== null });
  const items = views.data?.items ?? [];
  return (
    <>
      <Menu opened={opened} onChange={setOpened} position="bottom-end" width={280} withinPortal>
        <Menu.Target>
          <Tooltip label="Views" disabled={opened}>
            <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Views">
              <IconBookmark size={20} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </Menu.Target>
        <Menu.Dropdown>
          {views.isPending && <Loader size="sm" m="xs" aria-label="Loading views" />}
          {views.isError && <ProblemNote error={views.error} title="Views could not be loaded" />}
          <ScrollArea.Autosize mah="min(420px, 55vh)">
            <Section name="Your views" views={items.filter((view) => isOwn(view, session))} />
            <Section name="Shared by others" views={items.filter((view) => !isOwn(view, session))} />
          </ScrollArea.Autosize>
          {items.length > 0 && <Menu.Divider />}
          <Menu.Item leftSection={<IconPlus size={16} aria-hidden />} onClick={() => open("save")}>
            Save this page
          </Menu.Item>
          {items.some((view) => mayChange(view, session)) && (
            <Menu.Item leftSection={<IconSettings size={16} aria-hidden />} onClick={() => open("manage")}>
              Manage views
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <Suspense fallback={null}>
        {dialog === "save" && <SaveView onClose={() => open(null)} />}
        {dialog === "manage" && (
          <ManageViews views={items.filter((view) => mayChange(view, session))} onClose={() => open(null)} />
        )}
      </Suspense>
    </>
  );
}

function Section({ name, views }: { name: string; views: View[] }) {
  const here = useRouterState({ select: (s) => queryOf(s.location) });
  if (views.length === 0) return null;
  return (
    <>
      <Menu.Label>{name}</Menu.Label>
      {views.map((view) => {
        const { to, search } = partsOf(view.query);
        return (
          <Menu.Item
            key={view.id}
            renderRoot={(props) => <Link to={to} search={search as never} {...props} />}
            aria-current={view.query === here ? "page" : undefined}
            rightSection={view.query === here && <IconCheck size={14} aria-hidden />}
          >
            <Text size="sm" truncate title={view.name}>
              {view.name}
            </Text>
          </Menu.Item>
        );
      })}
    </>
  );
}
