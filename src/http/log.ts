/** Writes one structured line to the Worker's log. Facts never hold a token, a body or a header's value. */
export const log = (
  level: 'info' | 'warn' | 'error',
  event: string,
  facts: Record<string, string | number | boolean>,
): void => console[level](JSON.stringify({ event, ...facts }))
