import { type WireVersion, wireVersions } from '../card/model/calls.ts'
import { extendedCardDialects, type OperationName, operations, RENAMED_METHODS } from './operations.ts'
import type { Refusal } from './verdict.ts'

const named = (version: WireVersion): ReadonlyMap<string, OperationName> =>
  new Map([
    ...[...extendedCardDialects]
      .filter(([, dialect]) => dialect !== '0.3' && dialect !== '1.0')
      .map(([name]): [string, OperationName] => [name, 'extendedCard']),
    ...(Object.keys(operations) as OperationName[]).flatMap((operation): [string, OperationName][] => {
      const name = operations[operation][version]
      return name === undefined ? [] : [[name, operation]]
    }),
  ])

const operationsNamed: Record<WireVersion, ReadonlyMap<string, OperationName>> = {
  '0.3': named('0.3'),
  '1.0': named('1.0'),
}

/**
 * What a JSON-RPC method asks for, in the version that the call names; where it names none, in the one that knows the
 * method. A method that both know is in the version that the agent speaks, 0.3 before 1.0.
 */
export const resolveMethod = (
  method: string,
  version: WireVersion | undefined,
  spoken: readonly WireVersion[],
): { operation: OperationName; version: WireVersion } | Refusal => {
  const knowing = version === undefined ? wireVersions.filter(each => operationsNamed[each].has(method)) : [version]
  const chosen = (knowing.length > 1 ? knowing.find(each => spoken.includes(each)) : undefined) ?? knowing[0]
  const inWords = chosen ?? inferVersion(method)
  const operation = operationsNamed[inWords].get(method)
  if (operation !== undefined) return { operation, version: inWords }
  const today = todaysName(method, inWords)
  return { refused: 'method', method, version: inWords, ...(today !== undefined && { today }) }
}

/** What has taken the place of a name in a version: of one that is gone, or that is another version's. */
const todaysName = (method: string, version: WireVersion): string | undefined => {
  const meant =
    RENAMED_METHODS.get(method) ?? wireVersions.map(each => operationsNamed[each].get(method)).find(each => each)
  return meant && operations[meant][version]
}

/** The version whose names look like this one: v1.0's are in PascalCase, v0.3's have slashes. */
export const inferVersion = (method: string): WireVersion => (/^[A-Z]/.test(method) ? '1.0' : '0.3')
