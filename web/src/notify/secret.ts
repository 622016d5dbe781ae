/** newSecret is a secret of a webhook as Standard Webhooks write it: 32 random bytes. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** noSecret refuses what is none: `whsec_` and 24 to 64 bytes in base64. */
export function noSecret(secret: string): string | null {
  const form = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.trim());
  if (!form?.[1] || form[1].length % 4 !== 0) return "Enter whsec_ and 24 to 64 bytes in base64, or generate one.";
  const length = atob(form[1]).length;
  return length >= 24 && length <= 64 ? null : `These are ${length} bytes. Enter 24 to 64 bytes, or generate some.`;
}
