/** The longest key, in bytes of UTF-8. */
export const maxKeyBytes = 512;

/** Half of a surrogate pair: no UTF-8 has it, and a browser sends U+FFFD in its place without a word. */
export const halfPair = /\p{Cs}/u;

/**
 * Joins parts into an idempotency key with ":". A "%" or ":" inside a part is escaped, so different parts never make
 * the same key. It is the function `Key` of Go's client and `key(…)` of templates.
 */
export function buildKey(...parts: (string | number)[]): string {
  return parts.map((part) => String(part).replaceAll("%", "%25").replaceAll(":", "%3A")).join(":");
}

/** Says why a string cannot be a key; undefined: it can. */
export function keyFault(key: string): string | undefined {
  const bytes = new TextEncoder().encode(key).length;
  if (key === "") {
    return "the key is empty; an idempotency key is the client's name for the action, such as grant-coupon-42";
  }
  if (bytes > maxKeyBytes) {
    return `the key has ${bytes} bytes, and at most ${maxKeyBytes} are allowed`;
  }
  if (halfPair.test(key)) {
    return "the key has half of a surrogate pair";
  }
  if (/\p{Cc}/u.test(key)) {
    return "the key has a control character";
  }
  // Not trim(): it takes a byte order mark for white space, and Unicode does not.
  if (/^\p{White_Space}|\p{White_Space}$/u.test(key)) {
    return "the key begins or ends with white space";
  }
  return undefined;
}

/**
 * Writes a key as the header Idempotency-Key has it: as a structured field's String, or, where it has other letters than
 * ASCII's, as a Display String (RFC 9651, sections 4.1.6 and 4.1.11).
 */
export function headerValue(key: string): string {
  if (/^[\x20-\x7e]*$/.test(key)) {
    return `"${key.replace(/[\\"]/g, "\\$&")}"`;
  }
  let encoded = "";
  for (const byte of new TextEncoder().encode(key)) {
    const plain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25 && byte !== 0x22;
    encoded += plain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0")}`;
  }
  return `%"${encoded}"`;
}
