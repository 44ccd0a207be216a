/** A mutant that does the same as the original, so that no test can notice it. */
type Equivalent = { path: string; original: string; replacement: string; reason: string }

export const equivalentMutants: readonly Equivalent[] = []
