/** A day: a timer of more than 24 of them goes off at once. */
const most = 86_400

/** Seconds as an owner configures them: more than none, fractions too; else what is usual. */
export const seconds = (value: string, usual: number): number =>
  Number(value) > 0 && Number(value) <= most ? Number(value) : usual
