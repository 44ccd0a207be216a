import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'

const Package = v.object({ version: v.string() })

const text = readFileSync(join(import.meta.dirname, '..', 'package.json')).toString()

/** The version of this project, as its package says it. */
export const { version } = v.parse(Package, JSON.parse(text))
