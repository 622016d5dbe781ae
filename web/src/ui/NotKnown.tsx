import { Text } from "@mantine/core";

/** NotKnown stands where a figure would: a dash, which screen readers are told the meaning of. */
export const NotKnown = ({ inherit = false }: { inherit?: boolean }) => (
  <Text size="sm" c="dimmed" span inherit={inherit}>
    <span aria-hidden>–</span>
    <span className="visually-hidden">not known</span>
  </Text>
);
