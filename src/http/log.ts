/** Writes one structured line to the Worker's log. Facts never contain a token, a body or the value of a header. */
export const log = (
  level: 'info' | 'warn' | 'error',
  event: string,
  facts: Record<string, string | number | boolean>,
): void => console[level](JSON.stringify({ event, ...facts }))
