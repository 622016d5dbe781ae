/** Look is the colours of a chart as a canvas takes them: resolved for the scheme of the moment. */
export type Look = {
  text: string;
  grid: string;
  background: string;
  hatch: string;
  shade: string;
  lines: string[];
  /** Under a single line. */
  soft: string[];
  /** Of stacked areas: opaque, since each is painted over the one above it. */
  areas: string[];
  /** Of stacked areas in a partial bucket. */
  pale: string[];
  /** Of lines of the window before, and of a stack's total in it. */
  before: string[];
  totalBefore: string;
};

type Rgb = readonly [number, number, number];

const fallback: Rgb = [128, 128, 128];

function parse(color: string): Rgb {
  const found = /rgba?\(([\d.]+)[, ]+([\d.]+)[, ]+([\d.]+)/.exec(color);
  return found ? [Number(found[1]), Number(found[2]), Number(found[3])] : fallback;
}

const rgb = ([r, g, b]: Rgb, alpha = 1) => `rgb(${Math.round(r)} ${Math.round(g)} ${Math.round(b)} / ${alpha})`;

const mix = (a: Rgb, b: Rgb, share: number): Rgb => [
  a[0] * share + b[0] * (1 - share),
  a[1] * share + b[1] * (1 - share),
  a[2] * share + b[2] * (1 - share),
];

/** readLook resolves CSS colours (variables, light-dark()) where the chart stands. */
export function readLook(root: HTMLElement, colors: readonly string[]): Look {
  const names = [
    "var(--mantine-color-dimmed)",
    "var(--muster-line)",
    "var(--chart-background, var(--mantine-color-body))",
    ...colors,
  ];
  const probe = document.createElement("span");
  probe.hidden = true;
  for (const [i, color] of names.entries()) {
    const child = document.createElement("i");
    child.style.color = color;
    // Series keep their colors where the system forces others: it has one for all of them.
    if (i >= names.length - colors.length) child.style.setProperty("forced-color-adjust", "none");
    probe.append(child);
  }
  root.append(probe);
  const [text = fallback, grid = fallback, background = fallback, ...series] = [...probe.children].map((child) =>
    parse(getComputedStyle(child).color),
  );
  probe.remove();
  return {
    text: rgb(text),
    grid: rgb(grid),
    background: rgb(background),
    hatch: rgb(text, 0.4),
    shade: rgb(text, 0.06),
    lines: series.map((c) => rgb(c)),
    soft: series.map((c) => rgb(c, 0.08)),
    areas: series.map((c) => rgb(mix(c, background, 0.62))),
    pale: series.map((c) => rgb(mix(c, background, 0.3))),
    before: series.map((c) => rgb(mix(c, background, 0.5))),
    totalBefore: rgb(text),
  };
}

/** onSchemeChange calls back when the page turns light or dark: after Mantine has set it, so that styles are new. */
export function onSchemeChange(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });
  return () => observer.disconnect();
}
