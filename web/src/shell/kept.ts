/** kept is one text in a storage of the browser; a browser without storage forgets it and works all the same. */
export function kept(storage: () => Storage, key: string) {
  return {
    read: (): string | null => {
      try {
        return storage().getItem(key);
      } catch {
        return null;
      }
    },
    /** null takes it out. */
    write: (value: string | null) => {
      try {
        if (value === null) storage().removeItem(key);
        else storage().setItem(key, value);
      } catch {
        // It holds until the page is loaded anew.
      }
    },
  };
}
