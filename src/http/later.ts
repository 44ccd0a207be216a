import type { Handler } from './handler.ts'

/** An endpoint of a module that is loaded when it is first asked: what few requests need costs a start nothing. */
export const lazy =
  <Name extends string>(load: () => Promise<Record<Name, Handler>>, name: Name): Handler =>
  async (...asking) =>
    (await load())[name](...asking)
