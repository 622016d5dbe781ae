import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

// The green of the roll call. Shade 7 on white has a contrast of 6.1, shade 4 on the dark body one of 7.
const muster: MantineColorsTuple = [
  "#eef8f5",
  "#dcefe9",
  "#b5dfd2",
  "#8acdb9",
  "#67bea4",
  "#51b596",
  "#2f8f74",
  "#1f6f5c",
  "#175a4a",
  "#0d4538",
];

export const theme = createTheme({
  colors: { muster },
  primaryColor: "muster",
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace',
  defaultRadius: "md",
  cursorType: "pointer",
  headings: {
    fontWeight: "650",
    sizes: {
      h1: { fontSize: "1.5rem", lineHeight: "1.3" },
      h2: { fontSize: "1.125rem", lineHeight: "1.35" },
      h3: { fontSize: "1rem", lineHeight: "1.4" },
    },
  },
  respectReducedMotion: true,
});

// Mantine's own dimmed grey has a contrast of 3.3 on white; text needs 4.5 (WCAG 1.4.3).
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: { "--mantine-color-dimmed": "#5a6470", "--muster-page": "#f6f8f8", "--muster-line": "#dde3e3" },
  dark: {
    "--mantine-color-dimmed": "#a9b1b8",
    "--muster-page": "#16191b",
    "--muster-line": "#33393d",
    "--mantine-color-body": "#1c2023",
  },
});
