import { Button } from "@mantine/core";
import { IconArrowForwardUp } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { client } from "../api/client";
import { say, sayProblem } from "../ui/say";
import { notificationsChanged } from "./changed";
import { type Delivery, summaryOf } from "./words";

/** Retry has a failed delivery tried again, under the id that it has. */
export function Retry({ delivery }: { delivery: Delivery }) {
  const retry = useMutation({
    mutationFn: () =>
      client.POST("/api/v1/deliveries/{deliveryId}/retry", { params: { path: { deliveryId: delivery.id } } }),
    onSuccess: () => say("Muster will try it again."),
    onError: (error) => sayProblem(error, "It could not be retried"),
    onSettled: notificationsChanged,
  });
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={retry.isPending}
      leftSection={<IconArrowForwardUp size={14} aria-hidden />}
      aria-label={`Retry ${summaryOf(delivery)}`}
      onClick={() => retry.mutate()}
    >
      Retry
    </Button>
  );
}
