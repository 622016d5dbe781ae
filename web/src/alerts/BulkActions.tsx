import { Box, Button, Group, Paper, Text } from "@mantine/core";
import { lazy, Suspense, useRef, useState } from "react";
import { plural } from "../ui/format";
import { part } from "../ui/part";
import type { Alert } from "./AlertTable";
import { actions } from "./actions";
import { type Action, useAlertsAction } from "./useAlertAction";
import type { Selection } from "./useSelection";

const ActDialog = lazy(() => part(() => import("./ActDialog")).then((m) => ({ default: m.ActDialog })));

/** BulkActions is what can be done with the selected alerts: what suits none of them cannot be pressed. */
export function BulkActions({ alerts, selection }: { alerts: Alert[]; selection: Selection }) {
  const [asked, ask] = useState<Action | null>(null);
  const act = useAlertsAction();
  // Focus comes back here from the dialog, whose button is gone with the selection.
  const place = useRef<HTMLDivElement>(null);
  const close = () => {
    ask(null);
    requestAnimationFrame(() => place.current?.focus());
  };
  const chosen = alerts.filter(({ id }) => selection.selected.has(id));
  return (
    <Box
      ref={place}
      tabIndex={-1}
      role="group"
      aria-label="Actions on the selected alerts"
      style={{ position: "sticky", bottom: 8, zIndex: 2, outlineOffset: 4 }}
    >
      <Text className="visually-hidden" role="status">
        {chosen.length > 0 && `${plural(chosen.length, "alert")} selected`}
      </Text>
      {chosen.length > 0 && (
        <Paper withBorder shadow="md" p="xs" mt="sm">
          <Group gap="xs" justify="space-between">
            <Text size="sm" fw={600} className="numbers">
              {plural(chosen.length, "alert")} selected
            </Text>
            <Group gap="xs">
              {actions.map(({ action, name, icon: Icon, suits }) => (
                <Button
                  key={action}
                  size="xs"
                  variant="default"
                  disabled={!chosen.some(suits)}
                  leftSection={<Icon size={14} aria-hidden />}
                  onClick={() => ask(action)}
                >
                  {name}
                </Button>
              ))}
              <Button size="xs" variant="subtle" onClick={() => selection.only([])}>
                Clear selection
              </Button>
            </Group>
          </Group>
        </Paper>
      )}
      {asked && (
        <Suspense>
          <ActDialog
            choices={[asked]}
            alerts={chosen.length}
            onClose={close}
            onAct={async (how) => {
              // Those that were refused stay selected, so that one sees which.
              selection.only(
                await act(
                  chosen.map(({ id }) => id),
                  how,
                ),
              );
            }}
          />
        </Suspense>
      )}
    </Box>
  );
}
