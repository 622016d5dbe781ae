import { type CSSVariablesResolver, createTheme, darken, type MantineColorsTuple } from "@mantine/core";

// Shades of one number do one thing in every colour, with the contrasts of WCAG 1.4.3 and 1.4.11:
// 9 on 1 is text on a tint (≥ 8), 7 on white and 6 under white are text and buttons (≥ 4.5),
// 4 on dark 7 is text in the dark (≥ 5.7). Mantine's own yellow, orange, green and teal fall short of that.
const shades = (...hex: [...MantineColorsTuple]): MantineColorsTuple => hex;

const gray = shades(
  "#f7f9fa",
  "#eef1f4",
  "#e3e8ec",
  "#d3dae0",
  "#b9c3cb",
  "#84909b",
  "#5f6b77",
  "#4b5762",
  "#323c45",
  "#1b2329",
);
const dark = shades(
  "#dbe1e6",
  "#bac4cb",
  "#9ca7b0",
  "#78848e",
  "#3b454d",
  "#2d353c",
  "#252c32",
  "#1c2227",
  "#15191d",
  "#0e1114",
);
const muster = shades(
  "#eef8f5",
  "#d9efe8",
  "#b2dece",
  "#86cbb4",
  "#5fb99d",
  "#41a386",
  "#268069",
  "#1f6f5c",
  "#175a4a",
  "#0f463a",
);
const red = shades(
  "#fff2f1",
  "#fee1df",
  "#fcc4c0",
  "#f89d97",
  "#f2766f",
  "#e5544d",
  "#d03a35",
  "#b92c29",
  "#982221",
  "#7c1b1b",
);
const orange = shades(
  "#fff4ec",
  "#ffe4d1",
  "#fdc9a4",
  "#faa86f",
  "#f0883f",
  "#d96c1f",
  "#bb5512",
  "#a3470d",
  "#84390c",
  "#6b2f0b",
);
const yellow = shades(
  "#fff9e5",
  "#fdeebd",
  "#fadf8a",
  "#f3c94f",
  "#e2b02a",
  "#c1911a",
  "#976f0c",
  "#835f08",
  "#6b4d07",
  "#573f07",
);
const green = shades(
  "#eefaf0",
  "#d8f2dd",
  "#b2e3bb",
  "#85cf93",
  "#5cb96e",
  "#3fa253",
  "#2b803c",
  "#237033",
  "#1c5b2a",
  "#164822",
);
const blue = shades(
  "#eff6ff",
  "#dbeafd",
  "#b8d5fb",
  "#8abaf6",
  "#5f9def",
  "#4283e2",
  "#2c69c9",
  "#2459b0",
  "#1e4a92",
  "#193d77",
);

const soft = (y: number, blur: number, strength: number) =>
  `0 1px 2px rgba(15, 23, 32, 0.06), 0 ${y}px ${blur}px rgba(15, 23, 32, ${strength})`;

/** theme is how everything looks: cool greys, one green, hairlines, 14 px text on a rhythm of 8 px. */
export const theme = createTheme({
  colors: { gray, dark, muster, red, orange, yellow, green, teal: green, lime: green, blue },
  primaryColor: "muster",
  primaryShade: { light: 7, dark: 6 },
  black: "#1b2329",
  autoContrast: true,
  // Where white and black text have the same contrast.
  luminanceThreshold: 0.19,
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace',
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.125rem" },
  lineHeights: { xs: "1.4", sm: "1.45", md: "1.5", lg: "1.5", xl: "1.5" },
  spacing: { xs: "0.5rem", sm: "0.75rem", md: "1rem", lg: "1.5rem", xl: "2rem" },
  radius: { xs: "2px", sm: "4px", md: "6px", lg: "10px", xl: "16px" },
  shadows: {
    xs: soft(1, 2, 0.04),
    sm: soft(2, 6, 0.06),
    md: soft(6, 20, 0.1),
    lg: soft(12, 32, 0.12),
    xl: soft(16, 48, 0.14),
  },
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  headings: {
    fontWeight: "650",
    sizes: {
      h1: { fontSize: "1.375rem", lineHeight: "1.3" },
      h2: { fontSize: "1rem", lineHeight: "1.4" },
      h3: { fontSize: "0.875rem", lineHeight: "1.45" },
      h4: { fontSize: "0.8125rem", lineHeight: "1.45" },
    },
  },
  components: {
    Badge: { defaultProps: { variant: "light", radius: "sm" } },
    CloseButton: { defaultProps: { "aria-label": "Close" } },
    Drawer: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    // The placeholder for the first focus is no menuitem, which axe minds in a menu: the first item gets it.
    Menu: { defaultProps: { shadow: "md", withInitialFocusPlaceholder: false } },
    Modal: { defaultProps: { centered: true, closeButtonProps: { "aria-label": "Close" }, overlayProps: { blur: 1 } } },
    PasswordInput: { defaultProps: { visibilityToggleButtonProps: { "aria-label": "Show the password" } } },
    Popover: { defaultProps: { shadow: "md" } },
    Table: { defaultProps: { verticalSpacing: "xs" } },
    // What is for screen readers alone is placed in it and scrolls with it: else the page gets as wide as the table.
    TableScrollContainer: { defaultProps: { pos: "relative" } },
    Tooltip: { defaultProps: { withArrow: true, multiline: true, maw: 320 } },
  },
});

// In the dark, tints that are told from the panels; text on them is shade 0 (≥ 11).
const tints = Object.fromEntries(
  Object.entries({ muster, red, orange, yellow, green, teal: green, lime: green, blue }).flatMap(([name, shade]) => [
    [`--mantine-color-${name}-light`, darken(shade[9], 0.25)],
    [`--mantine-color-${name}-light-hover`, darken(shade[9], 0.1)],
  ]),
);

/**
 * variables are Mantine's colours where its own are too faint, and Muster's: `--muster-line` a hairline,
 * `--muster-control` the edge of a field (3:1, WCAG 1.4.11), `--muster-focus` its ring. page.css has `--muster-page`.
 */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": gray[6],
    "--mantine-color-placeholder": gray[6],
    "--mantine-color-error": red[7],
    "--mantine-color-success": green[7],
    "--mantine-color-default-border": gray[3],
    "--mantine-color-default-color": gray[9],
    "--muster-line": gray[2],
    "--muster-control": gray[5],
    "--muster-focus": muster[7],
  },
  dark: {
    ...tints,
    "--mantine-color-dimmed": dark[2],
    "--mantine-color-placeholder": dark[2],
    "--mantine-color-error": red[4],
    "--mantine-color-success": green[4],
    "--muster-line": dark[5],
    "--muster-control": dark[3],
    "--muster-focus": muster[4],
  },
});
