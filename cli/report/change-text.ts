import { format } from 'jsondiffpatch/formatters/console'
import colors from 'picocolors'
import type { Result } from '../sync/outcome.ts'
import { deltaOf } from './delta.ts'

/** What a file changes of what is registered, for people; coloured where stdout is a terminal. */
export const changeText = ({ id, file, change }: Pick<Result, 'id' | 'file' | 'change'>): string => {
  if (change === undefined) return ''
  const { before, after } = change
  const lines = (format(deltaOf(before, after)) ?? '').trimEnd().split('\n')
  return [colors.bold(`${id} (${file})`), ...lines.map(line => `  ${line}`)].join('\n')
}
