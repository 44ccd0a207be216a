/**
 * What came of a write in the Registry's tables: nothing but why not, or what was made and the keys of KV to be published now.
 * Of those, KV is `owed` what the write changed; that the others are published too heals what failed before.
 */
export type Written<Made, Refused> =
  | { refused: Refused }
  | { made: Made; owed: readonly string[]; publish: readonly string[] }
