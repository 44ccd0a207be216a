/** A row of a Durable Object's database holds 2 MB at most, besides what stands beside a document in it. */
const mostBytes = 1_900_000

/** Whether each of these texts can be kept. */
export const fitsInRow = (texts: readonly string[]): boolean =>
  // In UTF-8 a UTF-16 unit takes three bytes at most.
  texts.every(text => text.length * 3 <= mostBytes || new TextEncoder().encode(text).byteLength <= mostBytes)
