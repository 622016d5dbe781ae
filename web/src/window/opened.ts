/** Reading is one time that the page was read: when, and the instant at which its presets end. */
export type Reading = { at: Date; asked: number };

export const readNow = (): Reading => {
  const at = new Date();
  return { at, asked: at.getTime() };
};

/** opened is when the page was opened, which is its first anchor. */
export const opened = readNow();
