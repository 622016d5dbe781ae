// A mail as written (RFC 5322, 2045, 2047), as far as Muster's own go: two alternatives, quoted-printable or base64, and an attachment, which is left out.

export type Mail = {
  subject: string;
  from: string;
  to: string;
  date: string | null;
  text: string;
  html: string | null;
};

/** readMail reads a mail. What it does not know is left as it is. */
export function readMail(raw: string): Mail {
  const { headers, body } = split(raw);
  const found = { text: null as string | null, html: null as string | null };
  collect(headers, body, found);
  const date = new Date(headers.get("date") ?? "");
  return {
    subject: words(headers.get("subject") ?? ""),
    from: words(headers.get("from") ?? ""),
    to: words(headers.get("to") ?? ""),
    date: Number.isNaN(date.getTime()) ? null : date.toISOString(),
    text: found.text ?? "",
    html: found.html,
  };
}

type Headers = Map<string, string>;

function split(entity: string): { headers: Headers; body: string } {
  const text = entity.replaceAll("\r\n", "\n");
  const end = text.startsWith("\n") ? 0 : text.indexOf("\n\n");
  const head = (end < 0 ? text : text.slice(0, end)).replace(/\n[ \t]+/g, " ");
  const headers: Headers = new Map();
  for (const line of head.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { headers, body: end < 0 ? "" : text.slice(end === 0 ? 1 : end + 2) };
}

function collect(headers: Headers, body: string, found: { text: string | null; html: string | null }) {
  const type = headers.get("content-type") ?? "text/plain";
  const boundary = /boundary="?([^";]+)"?/i.exec(type)?.[1];
  if (/^multipart\//i.test(type) && boundary) {
    for (const part of `\n${body}`.split(`\n--${boundary}`).slice(1)) {
      if (part.startsWith("--")) break;
      const inner = split(part.replace(/^[ \t]*\n/, ""));
      collect(inner.headers, inner.body, found);
    }
    return;
  }
  const decoded = decode(body, (headers.get("content-transfer-encoding") ?? "").toLowerCase());
  if (/^text\/html/i.test(type)) found.html ??= decoded;
  else if (/^text\/plain/i.test(type)) found.text ??= decoded;
}

const utf8 = (bytes: Iterable<number>) => new TextDecoder().decode(Uint8Array.from(bytes));
const fromBase64 = (text: string) => utf8(Array.from(atob(text.replace(/\s/g, "")), (c) => c.charCodeAt(0)));

function decode(body: string, encoding: string): string {
  if (encoding === "base64") return fromBase64(body);
  return encoding === "quoted-printable" ? unquote(body.replace(/=[ \t]*\n/g, "")) : body;
}

/** unquote turns =C3=BC into what it stands for; what is written as itself stays. */
function unquote(text: string): string {
  const bytes: number[] = [];
  for (const [piece] of text.matchAll(/=[0-9A-Fa-f]{2}|[\s\S]/gu)) {
    if (piece.length === 3) bytes.push(Number.parseInt(piece.slice(1), 16));
    else bytes.push(...new TextEncoder().encode(piece));
  }
  return utf8(bytes);
}

/** words reads encoded words: =?UTF-8?q?…?= and =?UTF-8?b?…?=. */
function words(header: string): string {
  return header
    .replace(/(\?=)\s+(?==\?)/g, "$1")
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, encoding: string, text: string) =>
      encoding.toLowerCase() === "b" ? fromBase64(text) : unquote(text.replaceAll("_", " ")),
    );
}

/**
 * addressesIn cuts a text at the web addresses of an origin in it: every second piece is one. Others stay text: the title
 * of an alert, and whatever else a machine sent, must not become a link.
 */
export function addressesIn(text: string, origin: string): string[] {
  const pieces = [""];
  for (const [at, piece] of text.split(/(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)])/).entries()) {
    if (at % 2 === 1 && URL.canParse(piece) && new URL(piece).origin === origin) pieces.push(piece, "");
    else pieces[pieces.length - 1] += piece;
  }
  return pieces;
}
