import { test as isMediaTypeName } from 'media-typer'
import { formatPointer, isJsonObject, type Pointer, parseMediaRange } from '../../json/index.ts'
import {
  type AuthoredSkill,
  type Finding,
  getAuthored,
  getAuthoredSkills,
  isBlank,
  isFromMcpServer,
  type LintContext,
  type Rule,
  rule,
} from './rule.ts'

const MIN_EXAMPLES = 2

const kebabCase = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Finds one field of each skill for which `isWrong` is true. */
const forEachSkill =
  (field: string, isWrong: (skill: AuthoredSkill) => boolean) =>
  (context: LintContext): Pointer[] =>
    getAuthoredSkills(context).flatMap(skill => (isWrong(skill) ? [skill.pointer + formatPointer(field)] : []))

const skillsWithoutTags = forEachSkill('tags', ({ authored }) => isBlank(authored.tags))

const skillsWithFewExamples = forEachSkill('examples', ({ skill }) => {
  return new Set(skill.examples?.map(example => example.trim())).size < MIN_EXAMPLES
})

/** Rules about the declaration of skills. */
export const skills: readonly Rule[] = [
  rule(
    'skills-undeclared',
    'info',
    'are missing, so one skill, "main", was made from the name and description: declare what the agent can do, as in { "id": "read-invoice", "name": "Read an invoice", "description": "Returns the amounts of a PDF invoice as JSON", "tags": ["invoice"] }',
    ({ authored }) => (isBlank(authored.skills) ? ['/skills'] : []),
  ),
  rule(
    'skill-id-kebab-case',
    'info',
    'is not kebab-case of at most 64 characters, such as "code-review"',
    forEachSkill('id', ({ skill }) => !kebabCase.test(skill.id)),
  ),
  rule('tags-undeclared', 'info', 'are missing: add words that people search for, as in ["invoice", "pdf"]', context =>
    isFromMcpServer(context) ? [] : skillsWithoutTags(context),
  ),
  rule(
    'few-examples',
    'info',
    'are fewer than two: add real prompts, from which orchestrators learn what input is valid, as in "What is the total of this invoice?"',
    context => (isFromMcpServer(context) ? [] : skillsWithFewExamples(context)),
  ),
  rule(
    'default-tool-unknown',
    'warning',
    'have no tool that `upstream.defaultTool` names, so a message that names none is refused: correct the name',
    ({ manifest, authored, card }) => {
      const { defaultTool } = manifest.upstream
      const tools = Array.isArray(authored.skills) ? authored.skills.filter(isJsonObject) : []
      const names = [...tools.map(({ id, name }) => id ?? name), ...card.skills.map(({ id }) => id)]
      return defaultTool === undefined || names.includes(defaultTool) ? [] : ['/skills']
    },
  ),
]

/** Accepts parameters and wildcards. */
const isMediaType = (mode: string): boolean => isMediaTypeName(mode.split(';', 1).join().trim().replaceAll('*', 'x'))

/** Says what the gate of this host does with a mode that is not a media type. */
const notAMediaType = (mode: string): string => {
  const { range } = parseMediaRange(mode)
  return range.includes('*')
    ? `is not a media type: the gate takes it for ${range}, but other hosts and clients may match it with nothing; write media types, such as "text/plain"`
    : 'is not a media type, such as "text/plain": the gate matches it with the same word only'
}

/** Returns every list of modes with its canonical place. */
const modeLists = ({ card }: LintContext): [Pointer, readonly string[] | undefined][] => [
  ['/defaultInputModes', card.defaultInputModes],
  ['/defaultOutputModes', card.defaultOutputModes],
  ...card.skills.flatMap((skill, index): [Pointer, readonly string[] | undefined][] => [
    [formatPointer('skills', index, 'inputModes'), skill.inputModes],
    [formatPointer('skills', index, 'outputModes'), skill.outputModes],
  ]),
]

/** Rules about input and output modes. */
export const modes: readonly Rule[] = [
  rule(
    'modes-undeclared',
    'info',
    'are missing, so defaults were filled in: declare the media types that the agent supports, as in ["text/plain"]',
    context =>
      (isFromMcpServer(context) ? [] : ['/defaultInputModes', '/defaultOutputModes'])
        .map(name => getAuthored(context, name))
        .filter(({ value }) => isBlank(value))
        .map(({ pointer }) => pointer),
  ),
  {
    id: 'mode-media-type',
    severity: 'warning',
    summary: 'is not a media type, such as "text/plain"',
    check: context =>
      modeLists(context).flatMap(([pointer, modes = []]) =>
        modes.flatMap((mode, index): Finding[] =>
          isMediaType(mode)
            ? []
            : [{ pointer: context.sourceOf(pointer + formatPointer(index)), message: notAMediaType(mode) }],
        ),
      ),
  },
]
