import { test as isMediaTypeName } from 'media-typer'
import { formatPointer, type Pointer } from '../../json/pointer.ts'
import { getAuthored, isBlank } from './authored.ts'
import { type LintContext, type Rule, rule } from './rule.ts'

/** A media type may carry parameters, which are for the recipient to judge, and a mode may hold wildcards. */
const isMediaType = (mode: string): boolean => isMediaTypeName(mode.split(';', 1).join().trim().replaceAll('*', 'x'))

/** Every list of modes, by its canonical place. */
const listsOf = ({ card }: LintContext): [Pointer, readonly string[] | undefined][] => [
  ['/defaultInputModes', card.defaultInputModes],
  ['/defaultOutputModes', card.defaultOutputModes],
  ...card.skills.flatMap((skill, index): [Pointer, readonly string[] | undefined][] => [
    [formatPointer('skills', index, 'inputModes'), skill.inputModes],
    [formatPointer('skills', index, 'outputModes'), skill.outputModes],
  ]),
]

/** What goes in and what comes out. */
export const modes: readonly Rule[] = [
  rule(
    'modes-undeclared',
    'info',
    'are not declared, so defaults were filled in: say what the agent handles',
    subject =>
      ['/defaultInputModes', '/defaultOutputModes']
        .map(name => getAuthored(subject, name))
        .filter(({ value }) => isBlank(value))
        .map(({ place }) => place),
  ),
  rule('mode-media-type', 'warning', 'is not a media type, such as "text/plain": calls will not match it', subject =>
    listsOf(subject).flatMap(([place, modes = []]) =>
      modes.flatMap((mode, index) => (isMediaType(mode) ? [] : [subject.at(place + formatPointer(index))])),
    ),
  ),
]
