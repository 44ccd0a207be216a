import { exitCodes } from '../exit-codes.ts'

/** What came of an agent: how it is told, and what it makes of the exit code. `due`: would have been done. */
export const actions = {
  unchanged: { mark: '=', paint: 'dim', exit: exitCodes.ok },
  created: { mark: '+', paint: 'green', exit: exitCodes.ok },
  updated: { mark: '~', paint: 'yellow', exit: exitCodes.ok },
  deleted: { mark: '-', paint: 'red', exit: exitCodes.ok },
  kept: { mark: '=', paint: 'dim', exit: exitCodes.ok },
  'to create': { mark: '+', paint: 'green', exit: exitCodes.ok, due: true },
  'to update': { mark: '~', paint: 'yellow', exit: exitCodes.ok, due: true },
  'to delete': { mark: '-', paint: 'red', exit: exitCodes.ok, due: true },
  invalid: { mark: '✗', paint: 'red', exit: exitCodes.refused },
  refused: { mark: '✗', paint: 'red', exit: exitCodes.refused },
  'changed meanwhile': { mark: '✗', paint: 'red', exit: exitCodes.refused },
  forbidden: { mark: '✗', paint: 'red', exit: exitCodes.unreachable },
  'not pushed': { mark: '✗', paint: 'red', exit: exitCodes.unreachable },
} as const satisfies Record<string, Telling>

type Telling = { mark: string; paint: 'dim' | 'green' | 'yellow' | 'red'; exit: number; due?: true }

/** The name of what came of an agent. */
export type Action = keyof typeof actions

/** How an action is told. */
export const telling = (action: Action): Telling => actions[action]
