/** The names of the parameters in a path: `id` in `/agents/:id`. A colon after a word belongs to a custom method. */
export type ParamsOf<Path> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<`/${Rest}`>
  : Path extends `${string}/:${infer Name}+`
    ? Name
    : Path extends `${string}/:${infer Name}`
      ? Name
      : never
