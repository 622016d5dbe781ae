/** copyText puts a text on the clipboard, also where the page came over plain HTTP; it throws where the browser refuses. */
export async function copyText(text: string): Promise<void> {
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
