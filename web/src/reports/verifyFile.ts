// What a file is, as far as its holder's own computer can tell, and the question to the log.
import { client, type Schemas } from "../api/client";

/** The largest file that the API takes, in bytes. */
export const largest = 64 * 1024 * 1024;

/** The largest file in which the API looks for evidence, in bytes. */
export const largestEvidence = 16 * 1024 * 1024;

/** unfit is why a file is not worth sending, as a sentence; null is that it is. */
export async function unfit(file: File): Promise<string | null> {
  if (file.size > largest) return "The file is larger than 64 MB, so Muster did not build it.";
  const head = new TextDecoder("latin1").decode(await file.slice(0, 5).arrayBuffer());
  // Readers of PDF forgive bytes before the mark; a report of ours has none.
  // What goes with the PDF is known to the log, too.
  if (head !== "%PDF-" && !/\.(csv|json)$/i.test(file.name))
    return "This file is not a PDF, so Muster did not build it. Nothing was sent.";
  return null;
}

/** sha256 is a file's digest in hex, computed here; null where the browser has no means, as over plain HTTP. */
export async function sha256(file: File): Promise<string | null> {
  if (!globalThis.crypto?.subtle) return null;
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** verify asks the log whether a file is a report of this organization, unchanged. The server keeps nothing of it. */
export async function verify(file: File): Promise<Schemas["Verification"]> {
  const { data } = await client.POST("/api/v1/reports/verify", {
    body: file,
    bodySerializer: (body) => body as File,
    headers: { "Content-Type": "application/pdf" },
  });
  return data as Schemas["Verification"];
}
