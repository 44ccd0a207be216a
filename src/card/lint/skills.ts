import { test as isMediaTypeName } from 'media-typer'
import { formatPointer, type Pointer } from '../../json/json.ts'
import type { Severity } from '../model/report.ts'
import { type AuthoredSkill, authoredSkills, getAuthored, isBlank, type LintContext, type Rule, rule } from './rule.ts'

const fewestExamples = 2

const kebabCase = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/

/** A rule about one field of every skill: it finds something where `wrong` says so. */
const ofEach = (
  field: string,
  id: string,
  severity: Severity,
  message: string,
  wrong: (skill: AuthoredSkill) => boolean,
): Rule =>
  rule(id, severity, message, subject =>
    authoredSkills(subject).flatMap(skill => (wrong(skill) ? [skill.place + formatPointer(field)] : [])),
  )

/** How skills are declared. */
export const skills: readonly Rule[] = [
  rule(
    'skills-undeclared',
    'info',
    'are not declared: one, "main", was made from the name and description',
    ({ authored }) => (isBlank(authored.skills) ? ['/skills'] : []),
  ),
  ofEach(
    'id',
    'skill-id-kebab-case',
    'info',
    'is not kebab-case of at most 64 characters, such as "code-review"',
    ({ skill }) => !kebabCase.test(skill.id),
  ),
  ofEach('tags', 'tags-undeclared', 'info', 'are missing: add words that people search by', ({ authored }) =>
    isBlank(authored.tags),
  ),
  ofEach(
    'examples',
    'few-examples',
    'info',
    'are fewer than two: add real prompts, from which orchestrators learn what is valid input',
    ({ skill }) => new Set(skill.examples?.map(example => example.trim())).size < fewestExamples,
  ),
]

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
