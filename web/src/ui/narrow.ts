import { useMediaQuery } from "@mantine/hooks";

/** useNarrow says that there is no room for a table, as on a phone. It is known at the first rendering. */
export const useNarrow = () => useMediaQuery("(max-width: 48em)", false, { getInitialValueInEffect: false });
