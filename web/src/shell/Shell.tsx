import { AppShell, Burger, Button, Group, NavLink, ScrollArea, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useRouterState } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { client } from "../api/client";
import { sessionQuery, useSession } from "../api/session";
import { useAnchor, useScope } from "../window/scope";
import { sections } from "./navigation";

/** Shell is the page's frame: navigation, and for pages with a scope the filter and the window. */
export function Shell({ scoped, children }: { scoped: boolean; children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure();
  const session = useSession();
  const here = useRouterState({ select: (s) => s.location.pathname });
  const { search } = useScope();
  const { move } = useAnchor();
  const queries = useQueryClient();
  const signOut = async () => {
    await client.DELETE("/api/v1/session");
    await queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
  };
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="xs">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <img src="/assets/icon.svg" alt="" width={28} height={28} />
            <Text fw={650}>{session.organization.name}</Text>
          </Group>
          <Group gap="xs">
            {scoped && (
              <Button size="xs" variant="default" onClick={move}>
                Refresh
              </Button>
            )}
            <Button size="xs" variant="subtle" onClick={signOut}>
              Sign out
            </Button>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm">
        <ScrollArea component="nav" aria-label="Main">
          {sections.map((section) => (
            <div key={section.name}>
              {section.links
                .filter((l) => !l.permission || session.can(l.permission))
                .map((l) => (
                  <NavLink
                    key={l.to}
                    component={Link}
                    to={l.to}
                    search={(l.scoped ? search : {}) as never}
                    label={l.name}
                    active={l.to === "/" ? here === "/" : here.startsWith(l.to)}
                    onClick={close}
                  />
                ))}
            </div>
          ))}
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        {children}
      </AppShell.Main>
    </AppShell>
  );
}
