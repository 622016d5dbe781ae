/** newKey is an Idempotency-Key. Not crypto.randomUUID, which browsers withhold from pages over plain HTTP. */
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

/**
 * idempotencyKeys gives each body a key: the same one for the same body sent again, as after an answer that was lost, so
 * that it is carried out once.
 */
export function idempotencyKeys(): (body: unknown) => string {
  let last = { body: "", key: "" };
  return (body) => {
    const written = JSON.stringify(body);
    if (written !== last.body) last = { body: written, key: newKey() };
    return last.key;
  };
}
