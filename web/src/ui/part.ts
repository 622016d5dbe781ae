import { back, whetherAway } from "../api/away";

/**
 * part loads a part of the pages' code, given as an import(). While the server is away it waits, and loads again when
 * the server is back; what the server then does not have is an error.
 */
export async function part<M>(load: () => Promise<M>): Promise<M> {
  for (;;) {
    try {
      return await load();
    } catch (failed) {
      if ((await whetherAway()) === null) throw failed;
      await back();
    }
  }
}
