import { DurableObject } from 'cloudflare:workers'

/** The methods of a Durable Object as Workers call them. The runtime's own type never ends on recursive types. */
export type RpcClient<Class> = Methods<Class, Exclude<keyof Class, keyof DurableObject>>

type Methods<Code, Name extends keyof Code> = {
  [Each in Name]: Code[Each] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}

/** Creates the class of a Durable Object that loads its code: every start of the Worker evaluates the class. */
export const lazyObject = <Code extends object, Name extends keyof Code & string>(
  load: (ctx: DurableObjectState, env: Env) => Promise<Code>,
  names: readonly Name[],
) => {
  class LazyObject extends DurableObject<Env> {
    readonly #code = load(this.ctx, this.env)

    static {
      for (const name of names)
        Object.defineProperty(LazyObject.prototype, name, {
          async value(this: LazyObject, ...args: unknown[]) {
            const code = await this.#code
            return (code[name] as (...args: unknown[]) => unknown).apply(code, args)
          },
        })
    }
  }
  return LazyObject as new (
    ctx: DurableObjectState,
    env: Env,
  ) => DurableObject<Env> & Methods<Code, Name>
}
