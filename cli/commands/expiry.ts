import { InvalidArgumentError } from 'commander'

const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 7 * 86_400 }

/** When a token is to end, as the host takes it: seconds from now, of a text such as 30d; or a date as it is. */
export const readExpiry = (text: string): number | string => {
  const [, count, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? []
  if (count !== undefined) return Number(count) * (units[unit] ?? 1)
  if (/^\d{4}-\d{2}-\d{2}(?:T\S+)?$/.test(text)) return text
  throw new InvalidArgumentError('It must be a time such as 90m, 12h, 30d or 8w, or a date such as 2027-01-31.')
}
