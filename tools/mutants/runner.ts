import { cpSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createVitest } from 'vitest/node'
import { readHostConfig } from '../../test/support/global-setup.ts'
import { bundleWorkers } from '../../test/support/runtime.ts'
import { ACTIVE_MODULE } from './plugin.ts'

// Runs test files with one mutant at a time, and keeps Vitest and its transformed modules in between. A program that run.ts starts.

export type Job = { mutant: number; files: string[] }

/** The result of a file; without one, the end of the job. */
export type JobMessage = { file?: string; failed: boolean; error: string; reached: number[] }

const root = join(import.meta.dirname, '../..')
const { HOST_DIRECTORY = '' } = process.env
// Processes run at once, each with another active mutant.
const directory = `${HOST_DIRECTORY}-${process.pid}`
cpSync(HOST_DIRECTORY, directory, { recursive: true })
const send = (message: JobMessage): void => void process.send?.(message)

const vitest = await createVitest('test', {
  config: `${import.meta.dirname}/vitest.config.ts`,
  watch: false,
  reporters: [
    {
      onTestModuleEnd: module => {
        const [test] = module.children.allTests('failed')
        const [error] = [...(test?.result().errors ?? []), ...module.errors()]
        const { reached = [] } = module.meta()
        send({ file: module.relativeModuleId, failed: !module.ok(), error: error?.message ?? '', reached })
      },
    },
  ],
})

vitest.provide('hostConfig', { ...readHostConfig(), directory, bundles: await bundleWorkers() })

const specifications = new Map(
  (await vitest.globTestSpecifications()).map(found => [relative(root, found.moduleId), found]),
)

process.on('message', async ({ mutant, files }: Job) => {
  vitest.state.filesMap.clear()
  vitest.provide('mutant', mutant)
  writeFileSync(join(directory, ACTIVE_MODULE), `export default ${mutant}`)
  const found = files.flatMap(file => specifications.get(file) ?? [])
  const { unhandledErrors } = await vitest.runTestSpecifications(found)
  const failed = unhandledErrors.length > 0
  send({ failed, error: failed ? 'an error outside of a test' : '', reached: [] })
})
process.on('disconnect', () => process.exit())
send({ failed: false, error: '', reached: [] })
