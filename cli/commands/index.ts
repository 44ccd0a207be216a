import type { Command } from 'commander'
import type { Context } from '../config.ts'
import { addAgents } from './agents.ts'
import { addCompletion } from './completion.ts'
import { addConvert } from './convert.ts'
import { addDiff } from './diff.ts'
import { addInit } from './init.ts'
import { addKeys } from './keys.ts'
import { addLint } from './lint.ts'
import { addPull } from './pull.ts'
import { addRefresh } from './refresh.ts'
import { addSync } from './sync.ts'
import { addToken } from './token.ts'
import { addWhoami } from './whoami.ts'

/** Adds a command to the program. It passes its exit code to `exit`; one that keeps running may do so repeatedly. */
type AddCommand = (program: Command, context: Context, exit: (code: number) => void) => void

/** All commands, in the order of `--help`. The first is the program's own action. */
export const COMMANDS: readonly AddCommand[] = [
  addSync,
  addInit,
  addPull,
  addDiff,
  addLint,
  addConvert,
  addAgents,
  addRefresh,
  addWhoami,
  addToken,
  addKeys,
  addCompletion,
]
