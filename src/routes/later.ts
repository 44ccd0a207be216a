import type { Handler } from './handler.ts'

/** An endpoint whose code is loaded when it is first asked: what few requests need costs a start nothing. */
export const later =
  <Module>(load: () => Promise<Module>, of: (module: Module) => Handler): Handler =>
  async (...asking) =>
    of(await load())(...asking)
