import { type ESTree, parseSync } from 'rolldown/utils'

/** One small change of a source file. */
export type Mutant = {
  kind: MutantKind
  /** What the text between `start` and `end` is in the syntax: decides how two versions of it fit into one file. */
  form: 'statement' | 'item' | 'property' | 'expression'
  start: number
  end: number
  line: number
  original: string
  replacement: string
}

export type MutantKind = keyof typeof mutators

type Node = ESTree.Node
type Change = { node: Node; replacement: string; form?: Mutant['form'] }
/** Returns the changes of a node; `text` is the source of a node. */
type Mutator = (node: Node, text: (node: Node) => string) => Change[]

const comparisons: Record<string, string> = {
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
}

type Operation = { start: number; left: { end: number }; right: { start: number }; operator: string }

/** Replaces the operator between the operands of an operation. */
const replaceOperator = ({ start, left, right, operator }: Operation, other: string, source: string) => {
  const between = source.slice(left.end - start, right.start - start)
  return source.slice(0, left.end - start) + between.replace(operator, other) + source.slice(right.start - start)
}

const mutators = {
  condition: node => {
    if (node.type === 'IfStatement' || node.type === 'ConditionalExpression')
      return ['true', 'false'].map(replacement => ({ node: node.test, replacement }))
    // A loop that never ends would only cost time.
    const isLoop = node.type === 'WhileStatement' || node.type === 'DoWhileStatement' || node.type === 'ForStatement'
    return isLoop && node.test ? [{ node: node.test, replacement: 'false' }] : []
  },
  logical: (node, text) => {
    if (node.type !== 'LogicalExpression') return []
    if (node.operator === '??') return [{ node, replacement: text(node.left) }]
    return [{ node, replacement: replaceOperator(node, node.operator === '&&' ? '||' : '&&', text(node)) }]
  },
  comparison: (node, text) => {
    const operator = node.type === 'BinaryExpression' && comparisons[node.operator]
    return operator ? [{ node, replacement: replaceOperator(node, operator, text(node)) }] : []
  },
  negation: (node, text) =>
    node.type === 'UnaryExpression' && node.operator === '!' ? [{ node, replacement: text(node.argument) }] : [],
  ternary: (node, text) => {
    if (node.type !== 'ConditionalExpression') return []
    return [{ node, replacement: `${text(node.test)} ? ${text(node.alternate)} : ${text(node.consequent)}` }]
  },
  call: node => {
    if (node.type !== 'ExpressionStatement') return []
    const { expression } = node
    const awaited = expression.type === 'AwaitExpression' ? expression.argument : expression
    const call = awaited.type === 'ChainExpression' ? awaited.expression : awaited
    const isCall = call.type === 'CallExpression' && call.callee.type !== 'Super'
    return isCall ? [{ node, replacement: '', form: 'statement' }] : []
  },
  item: node =>
    node.type === 'ArrayExpression'
      ? node.elements.flatMap(item => (item ? [{ node: item, replacement: '', form: 'item' }] : []))
      : [],
  property: node => (node.type === 'ObjectExpression' ? node.properties.flatMap(dropProperty) : []),
  string: node => {
    const isText = node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string')
    if (!isText) return []
    return [{ node, replacement: node.type === 'Literal' && node.value === '' ? "'mutant'" : "''" }]
  },
  number: node =>
    node.type === 'Literal' && typeof node.value === 'number'
      ? [node.value + 1, node.value - 1].map(value => ({ node, replacement: String(value) }))
      : [],
} satisfies Record<string, Mutator>

/** An accessor or `__proto__` would be something else in an object that is spread into the literal. */
const dropProperty = (node: ESTree.ObjectPropertyKind): Change[] => {
  const isPlain = node.type === 'SpreadElement' || (node.kind === 'init' && !isNamed(node.key, '__proto__'))
  return isPlain ? [{ node, replacement: '', form: 'property' }] : []
}

const isNamed = (key: Node, name: string) => key.type === 'Identifier' && key.name === name

/** Finds every mutant of a TypeScript module, in the order of its nodes. */
export const findMutants = (source: string): Mutant[] => {
  const { program, errors } = parseSync('module.ts', source)
  if (errors[0]) throw new Error(errors[0].message)
  const text = (node: Node) => source.slice(node.start, node.end)
  const found: Mutant[] = []
  const visit = (node: Node, outer?: Node): void => {
    const statement = node.type === 'ExpressionStatement' ? node : outer
    for (const [kind, mutate] of Object.entries<Mutator>(mutators))
      for (const change of mutate(node, text))
        found.push({ kind: kind as MutantKind, ...locate(change, statement, source) })
    for (const child of childrenOf(node)) visit(child, statement)
  }
  visit(program)
  return found
}

/**
 * Describes a change by its place. What begins a statement is changed as a statement: an expression with a parenthesis
 * in front would be the arguments of the line before.
 */
const locate = ({ node, replacement, form }: Change, statement: Node | undefined, source: string) => {
  const begins = form === undefined && statement?.start === node.start
  const { start, end } = begins ? statement : node
  const after = begins && source.slice(node.end, end)
  return {
    form: form ?? (begins ? 'statement' : 'expression'),
    start,
    end,
    line: source.slice(0, start).split('\n').length,
    original: source.slice(start, end),
    replacement: begins ? `(${replacement})${after}` : replacement,
  } satisfies Partial<Mutant>
}

/** The syntax of TypeScript around an expression; everything else that begins with TS is a type. */
const typedExpressions = ['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']

/** Lists the nodes in a node that are evaluated: no types, names of modules, fixed keys, or directives. */
const childrenOf = (node: Node): Node[] => {
  if (node.type.startsWith('TS') && !typedExpressions.includes(node.type)) return []
  if (/^Import|^ExportAll/.test(node.type) || ('directive' in node && node.directive)) return []
  if (node.type === 'TaggedTemplateExpression') return [node.tag, ...node.quasi.expressions]
  const skipped =
    'key' in node && !('computed' in node && node.computed)
      ? 'key'
      : node.type === 'ExportNamedDeclaration'
        ? 'source'
        : ''
  return Object.entries(node).flatMap(([name, value]) => (name === skipped ? [] : [value].flat().filter(isNode)))
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value
