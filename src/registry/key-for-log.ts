/** A key as the log may show it: without what a token is found by. */
export const redactKey = (key: string): string => key.replace(/[0-9a-f]{64}/, '…')
