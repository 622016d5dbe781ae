const browsers: [RegExp, string][] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bChrome\/|\bCriOS\/|\bChromium\//, "Chrome"],
  [/\bVersion\/.*\bSafari\//, "Safari"],
];

const systems: [RegExp, string][] = [
  [/\biPhone\b|\biPad\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

const first = (table: [RegExp, string][], text: string) => table.find(([pattern]) => pattern.test(text))?.[1];

/** browserName is a User-Agent in words, "Firefox on Linux"; a program's is its first word, "curl/8.5.0". */
export function browserName(userAgent: string | null): string {
  if (!userAgent) return "Unknown browser";
  const browser = first(browsers, userAgent);
  if (!browser) return userAgent.split(" ")[0] ?? userAgent;
  const system = first(systems, userAgent);
  return system ? `${browser} on ${system}` : browser;
}
