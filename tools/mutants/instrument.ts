import type { Mutant } from './mutators.ts'

/** A mutant of a sample; `__mutant(id)` tells at run time whether it is active. */
export type NumberedMutant = Mutant & { id: number }

type Form = Mutant['form']

/** The order of forms around one text: a call is a statement, then an expression. */
const forms: readonly Form[] = ['statement', 'item', 'property', 'expression']

/** Puts all mutants into the source, each chosen at run time, so that nothing is built for one mutant. */
export const instrument = (source: string, mutants: readonly NumberedMutant[]): string => {
  const ordered = mutants.toSorted(
    (left, right) =>
      left.start - right.start || right.end - left.end || forms.indexOf(left.form) - forms.indexOf(right.form),
  )
  return render(source, { start: 0, end: source.length }, ordered)
}

const render = (source: string, { start, end }: { start: number; end: number }, mutants: NumberedMutant[]): string => {
  const [first] = mutants
  if (!first) return source.slice(start, end)
  const isHere = (mutant: Mutant) =>
    mutant.end === first.end && mutant.start === first.start && mutant.form === first.form
  const inner = mutants.filter(mutant => mutant.start < first.end && !isHere(mutant))
  const original = render(source, first, inner)
  const before = source.slice(start, first.start)
  const after = mutants.filter(mutant => mutant.start >= first.end)
  const chosen = mutants.filter(isHere).reduceRight((text, mutant) => choose[mutant.form](mutant, text), original)
  return before + chosen + render(source, { start: first.end, end }, after)
}

/** Writes both versions of a text, the mutant's and the original. */
const choose: Record<Form, (mutant: NumberedMutant, original: string) => string> = {
  statement: ({ id, replacement }, original) => `{ if (__mutant(${id})) { ${replacement} } else { ${original} } }`,
  item: ({ id }, original) => `...(__mutant(${id}) ? [] : [${original}])`,
  property: ({ id }, original) => `...(__mutant(${id}) ? {} : { ${original} })`,
  expression: ({ id, replacement }, original) => `(__mutant(${id}) ? (${replacement}) : (${original}))`,
}
