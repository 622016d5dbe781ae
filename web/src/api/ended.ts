// That a session ended under a page, and what waits until its member has signed in again.

/** Listener answers whether the member signed in again; false is that their session had not ended. */
type Listener = () => Promise<boolean>;

const listeners = new Set<Listener>();

/** sessionEnded tells that an answer was 401 while somebody was signed in; the shell then asks for the password. */
export const sessionEnded = {
  /** tell resolves to true when the same member is signed in again, and to false where nobody asks them to. */
  tell: async (): Promise<boolean> => {
    const answers = await Promise.all([...listeners].map((listener) => listener()));
    return answers.includes(true);
  },
  listen: (listener: Listener) => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
};
