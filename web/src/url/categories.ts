/** The categories of the catalog, in its order. */
export const categories = ["Posture", "Security", "Compliance", "Performance", "Operations"] as const;
