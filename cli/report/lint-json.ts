import type { Reading } from './reading.ts'

/** What `lint` found as one object: for each file what `POST /lint` answers, and where the errors stand in the file. */
export const lintJson = (readings: readonly Reading[]): string =>
  JSON.stringify(
    {
      files: readings.map(({ file, id, problems, report }) => ({
        file,
        ...(id !== undefined && { id }),
        valid: problems.length === 0,
        errors: problems,
        ...report,
      })),
    },
    null,
    2,
  )
