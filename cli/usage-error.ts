/** The command was called wrongly: told to the caller as it is, without a stack. */
export class UsageError extends Error {}
