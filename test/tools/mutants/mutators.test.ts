import { stripTypeScriptTypes } from 'node:module'
import { describe, expect, it } from 'vitest'
import { instrument } from '../../../tools/mutants/instrument.ts'
import { findMutants } from '../../../tools/mutants/mutators.ts'

const changesOf = (source: string) =>
  findMutants(source).map(({ kind, original, replacement }) => `${kind}: ${original} → ${replacement}`)

describe('the mutants of a module', () => {
  it('are changes of what is evaluated', () => {
    const rows: [source: string, changes: string[]][] = [
      ['if (a) b = c', ['condition: a → true', 'condition: a → false']],
      ['while (a) b = c', ['condition: a → false']],
      ['for (;;) b = c', []],
      ['x = a && b', ['logical: a && b → a || b']],
      ['x = (a || b) ?? c', ['logical: (a || b) ?? c → (a || b)', 'logical: a || b → a && b']],
      ['x = a <= b', ['comparison: a <= b → a < b']],
      ['x = a !== b', ['comparison: a !== b → a === b']],
      ['x = a + b', []],
      ['x = !a', ['negation: !a → a']],
      ['x = a ? b : c', ['condition: a → true', 'condition: a → false', 'ternary: a ? b : c → a ? c : b']],
      ['await a?.b()', ['call: await a?.b() → ']],
      ['super_(a)', ['call: super_(a) → ']],
      ['x = [a, ...b]', ['item: a → ', 'item: ...b → ']],
      ['x = { a, b() {}, ...c }', ['property: a → ', 'property: b() {} → ', 'property: ...c → ']],
      ['x = { get a() {}, __proto__: b }', []],
      ["x = y['a'] + ''", ["string: 'a' → ''", "string: '' → 'mutant'"]],
      ['x = `a`', ["string: `a` → ''"]],
      ['x = 1_000', ['number: 1_000 → 1001', 'number: 1_000 → 999']],
      ["throw new Error('a')", ["string: 'a' → ''"]],
    ]
    for (const [source, changes] of rows) expect(changesOf(source), source).toEqual(changes)
  })

  it('spare types, names of modules, fixed keys, directives and tagged templates', () => {
    const sources = [
      "import a from 'a'\nimport b from 'b' with { type: 'json' }\nexport * from 'c'\nexport { d } from 'd'",
      "type A = 'a' | 1\ninterface B { 'b': 2 }\nconst c: [3] = d as unknown as 'd'",
      "const f = async <T extends 'a'>(a: 'a' | 1 = b as 'b'): Promise<'c'> => import('d')",
      "'use strict'",
      "const { 'a': b, 1: c } = d\nclass E { 'f' = g; 2() {} }",
      'x = tag`a`',
    ]
    for (const source of sources) expect(changesOf(source), source).toEqual([])
  })

  it('have the line on which they begin', () => {
    expect(findMutants('a\n\nb(\n1)').map(({ kind, line }) => [kind, line])).toEqual([
      ['call', 3],
      ['number', 4],
      ['number', 4],
    ])
  })
})

describe('an instrumented module', () => {
  const source = `
const log: unknown[] = []
const note = (value: unknown) => log.push(value) > 0
note('first')
inputs.a && note('a')
inputs.b ? note('b') : note('not b')
if (inputs.a) note(1)
else note(2)
;[0].forEach(item => note(item))
'text'.split('').map(note)
const { x = 5, ...rest } = { y: inputs.b ?? 'none', ...(inputs.a && { z: [1, ...[2]] }), 'q': \`\${inputs.c}!\` } as {x?: 5}
for (const key of ['a', 'b'] as const) if (!(inputs[key] || inputs.c! > 3)) note(key)
result = { log, x, rest, from(this: { x: number }) { return this.x >= 5 } }
result.held = result.from()
`
  const evaluate = (typescript: string, active?: number, reached = new Set<number>()): string => {
    const mutant = (id: number) => reached.add(id) && id === active
    const code = `let result;${stripTypeScriptTypes(typescript)};return JSON.stringify(result)`
    const results = [{}, { a: true, c: 7 }, { b: 4, c: 3 }].map(inputs => {
      try {
        return new Function('inputs', '__mutant', code)(inputs, mutant)
      } catch (error) {
        return `${error}`
      }
    })
    return results.join('\n')
  }
  const mutants = findMutants(source).map((mutant, id) => ({ ...mutant, id }))
  const instrumented = instrument(source, mutants)

  it('does what the source does while no mutant is active, and reaches the mutants', () => {
    const reached = new Set<number>()
    expect(evaluate(instrumented, undefined, reached)).toBe(evaluate(source))
    expect(mutants.filter(({ id }) => !reached.has(id))).toEqual([])
  })

  it('does what the changed source would do while a mutant is active', () => {
    for (const mutant of mutants) {
      const { id, form, replacement } = mutant
      // What is dropped leaves its comma.
      const place = { item: '...[]', property: '...{}', statement: `{${replacement}}`, expression: `(${replacement})` }[
        form
      ]
      const changed = source.slice(0, mutant.start) + place + source.slice(mutant.end)
      expect(evaluate(instrumented, id), JSON.stringify(mutant)).toBe(evaluate(changed))
    }
    expect(mutants.length).toBeGreaterThan(60)
  })
})
