import { Button } from "@mantine/core";
import { lazy, Suspense, useRef, useState } from "react";
import { part } from "../ui/part";
import { SelectionBar } from "../ui/Selecting";
import type { Selection } from "../ui/useSelection";
import type { Alert } from "./AlertTable";
import { actions } from "./actions";
import { type Action, useAlertsAction } from "./useAlertAction";

const ActDialog = lazy(() => part(() => import("./ActDialog")).then((m) => ({ default: m.ActDialog })));

/** BulkActions is what can be done with the selected alerts: what suits none of them cannot be pressed. */
export function BulkActions({ alerts, selection }: { alerts: Alert[]; selection: Selection }) {
  const [asked, ask] = useState<Action | null>(null);
  const act = useAlertsAction();
  const place = useRef<HTMLDivElement>(null);
  const close = () => {
    ask(null);
    requestAnimationFrame(() => place.current?.focus());
  };
  const chosen = alerts.filter(({ id }) => selection.selected.has(id));
  return (
    <>
      <SelectionBar ref={place} thing="alert" chosen={chosen.length} onClear={() => selection.only([])}>
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
      </SelectionBar>
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
    </>
  );
}
