import { say, sayProblem } from "../ui/say";

/** copy puts a text on the clipboard and says so, or that the browser refused, and what to do instead. */
export async function copy(text: string, said: string, instead = "") {
  try {
    await write(text);
    say(said);
  } catch {
    sayProblem(`The browser blocked access to the clipboard.${instead}`, "Not copied");
  }
}

/** write works also where the page came over plain HTTP; it throws where the browser refuses. */
async function write(text: string): Promise<void> {
  // Without a secure context there is no clipboard.
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard) return clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (!copied) throw new Error("the browser refused to copy");
}
